import test from 'ava';
import fc from 'fast-check';
import { FakeClock } from '../../../core/testing/index.js';
import { answerOf } from '../../core/cache/disk-answers.js';
import { FakeStore } from './fake-store.js';
import {
  backOf,
  counted,
  eventually,
  found,
  isUp,
  put,
  replicaOf,
  saidOf,
  tryPut,
  type Replica,
} from './shared-replicas.js';

const all = 'ref-proxy:generation';

test('what one replica purges no other finds in the store from then on, of all or of one tenant', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  for (const key of ['shop:a', 'shop-2:a']) {
    await put(one, key, answerOf(1));
    t.true(await found(other, key));
  }
  await one.tier.purgeBeginning('shop:');
  t.false(await found(other, 'shop:a'));
  t.true(await found(other, 'shop-2:a'));
  await other.tier.purge();
  t.false(await found(one, 'shop-2:a'));
  await put(one, 'shop:a', answerOf(2));
  t.true(await found(other, 'shop:a'));
  t.deepEqual([one.purged, other.purged], [['*'], ['shop']], 'and each purges what else it has');
  for (const replica of [one, other])
    t.deepEqual(
      [
        await counted(replica, 'purges_total', { by: 'this' }),
        await counted(replica, 'purges_total', { by: 'another' }),
      ],
      [1, 1],
    );
});

test('a purge that several ticks tell the store of is one purge', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  for (const replica of [one, other]) await replica.tier.get('shop:a');
  await Promise.all([one.tier.purgeBeginning('shop:'), one.tier.tick(), one.tier.tick()]);
  await eventually(() => other.tier.tick().then(() => other.purged.length > 0));
  await other.tier.tick();
  t.deepEqual(other.purged, ['shop']);
  t.is(await counted(one, 'purges_total', { by: 'this' }), 1);
});

test('a purge by another replica is learnt of without asking for anything, once, and not back', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  for (const replica of [one, other]) await replica.tier.get('shop:a');
  await one.tier.purgeBeginning('shop:');
  await eventually(() => other.tier.tick().then(() => other.purged.length > 0));
  for (const replica of [one, other, other]) await replica.tier.tick();
  t.deepEqual([one.purged, other.purged], [[], ['shop']]);
});

test('a store that has lost its generations, all or those of a tenant, is begun anew and purges nobody', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  for (const lose of ['all', 'tenant', 'everything'] as const) {
    await put(one, 'shop:a', answerOf(1));
    await eventually(() => found(other, 'shop:a'));
    for (const name of store.held.keys())
      if (lose === 'everything' || (lose === 'all' ? name === all : name.startsWith(`${all}:`)))
        store.held.delete(name);
    for (const replica of [one, other]) t.false(await found(replica, 'shop:a'), lose);
  }
  t.deepEqual([one.purged, other.purged], [[], []]);
});

test('a purge while the store is gone is made up for before anything of it is used again', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  await put(one, 'shop:a', answerOf(1));
  t.true(await found(other, 'shop:a'));
  await store.stop();
  await one.tier.purge();
  t.is(saidOf(one, 'cannot purge the shared cache'), 1);
  await store.listen();
  await backOf(one);
  t.false(await found(one, 'shop:a'));
  await eventually(async () => {
    await backOf(other);
    return other.purged.length > 0;
  });
  t.false(await found(other, 'shop:a'));
});

test('a purge of a store that is full deletes the generation, and is told when there is room', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  await put(one, 'shop:a', answerOf(1));
  t.true(await found(other, 'shop:a'));
  store.faults.instead = (command) =>
    command === 'SET' ? "-OOM command not allowed when used memory > 'maxmemory'.\r\n" : undefined;
  await one.tier.purge();
  for (const replica of [one, other]) t.false(await found(replica, 'shop:a'));
  t.true(await isUp(other));
  delete store.faults.instead;
  await eventually(async () => {
    for (const { tier } of [one, other]) await tier.tick();
    return other.purged.length > 0;
  });
  t.false(await found(other, 'shop:a'));
});

test('a purge that is sent again while the store is full is not deleted when there is room at once', async (t) => {
  const store = await FakeStore.start(t);
  const [one, other] = [await replicaOf(t, store.url), await replicaOf(t, store.url)];
  for (const replica of [one, other]) await replica.tier.get('shop:a');
  let refused = 0;
  store.faults.instead = (command) =>
    command === 'SET' && refused++ === 0
      ? "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
      : undefined;
  await Promise.all([one.tier.purge(), one.tier.tick()]);
  await other.tier.tick();
  t.deepEqual(other.purged, ['*']);
});

/** More frequent kinds are more likely. */
const kinds =
  'ask ask ask ask ask keep keep keep keep begin begin end end end purge purge-all tick evict'.split(' ');
/** A step of the model: the replica, its action, and the tenant of the key. */
const steps = fc.array(
  fc.record({
    who: fc.nat(1),
    what: fc.constantFrom(...kinds),
    tenant: fc.constantFrom('shop', 'dept'),
  }),
  { minLength: 40, maxLength: 60 },
);

test('whatever replicas do with their store, none finds what the data was before a purge', async (t) => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (run) => {
      const store = await FakeStore.start(t);
      const clock = new FakeClock();
      const replicas: Replica[] = [];
      /**
       * Data that a replica has fetched from its backend, by tenant; it is dropped when the replica learns of a purge, as in the answer
       * store.
       */
      const asked = new Map<string, string>();
      for (let number = 0; number < 2; number += 1) {
        const forget = (tenant: string | undefined): void => {
          for (const key of asked.keys())
            if (key.startsWith(`${number} `) && (tenant === undefined || key.endsWith(` ${tenant}`)))
              asked.delete(key);
        };
        const replica = await replicaOf(t, store.url, { clock, forget });
        replicas.push(replica);
      }
      /** The current version of the data, and the oldest version of each tenant that may be answered. */
      let version = 1;
      const oldest = new Map([
        ['shop', 0],
        ['dept', 0],
      ]);
      for (const { who, what, tenant } of run) {
        const replica = replicas[who];
        if (replica === undefined) continue;
        const { tier } = replica;
        const key = `${tenant}:a`;
        switch (what) {
          case 'ask': {
            const hit = await tier.get(key);
            if (hit === undefined) break;
            hits += 1;
            t.true(Number(hit.packed.toString()) >= (oldest.get(tenant) ?? 0));
            break;
          }
          case 'keep':
            await tier.get(key);
            await tryPut(replica, key, Buffer.from(String(version)));
            break;
          case 'begin':
            await tier.get(key);
            asked.set(`${who} ${tenant}`, String(version));
            break;
          case 'end': {
            const answer = asked.get(`${who} ${tenant}`);
            asked.delete(`${who} ${tenant}`);
            if (answer !== undefined) await tryPut(replica, key, Buffer.from(answer));
            break;
          }
          case 'purge':
          case 'purge-all': {
            version += 1;
            clock.advance(10);
            const areas = what === 'purge' ? [tenant] : ['shop', 'dept'];
            for (const area of areas) asked.delete(`${who} ${area}`);
            await (what === 'purge' ? tier.purgeBeginning(`${tenant}:`) : tier.purge());
            for (const area of areas) oldest.set(area, version);
            break;
          }
          case 'tick':
            await tier.tick();
            break;
          case 'evict':
            for (const name of store.held.keys()) if (name.startsWith(all)) store.held.delete(name);
        }
      }
      for (const { tier } of replicas) await tier.close();
      await store.stop();
    }),
    { endOnFailure: true, numRuns: 10 },
  );
  t.true(hits > 10, `${hits} answers were found`);
});
