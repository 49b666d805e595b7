import test from 'ava';
import fc from 'fast-check';
import { SharedGenerations } from '../../../core/cache/shared-generations.js';
import { FakeClock } from '../../../core/testing/index.js';
import { answerOf } from './disk-answers.js';
import { FakeStore } from './fake-store.js';
import { acquaint, eventually, put, replicaOf, tryPut, type Replica } from './shared.js';

const all = 'ref-proxy:generation';

async function found({ tier }: Replica, key: string): Promise<boolean> {
  return (await tier.get(key)) !== undefined;
}

test('what one replica purges no other finds from then on, of all or of one tenant', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const key of ['shop:a', 'shop-2:a']) {
    await acquaint(one, key);
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
  t.deepEqual(
    [one.told.purges, other.told.purges],
    [
      { this: 1, another: 1 },
      { this: 1, another: 1 },
    ],
  );
  t.deepEqual([one.purged, other.purged], [['*'], ['shop']], 'and each purges what else it has');
});

test('a purge by another replica is learnt of without asking for anything', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const replica of [one, other]) await acquaint(replica, 'shop:a');
  await one.tier.purgeBeginning('shop:');
  await eventually(() => other.tier.tick().then(() => other.purged.length > 0));
  t.deepEqual(other.purged, ['shop']);
  await other.tier.tick();
  await one.tier.tick();
  t.deepEqual([one.purged, other.purged], [[], ['shop']], 'once, and not back');
});

test('a replica that begins just after a purge purges too, one that begins later does not', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const one = await replicaOf(t, store.url, clock);
  await one.tier.purge();
  clock.advance(30_000);
  t.deepEqual((await replicaOf(t, store.url, clock)).purged, ['*']);
  clock.advance(31_000);
  t.deepEqual((await replicaOf(t, store.url, clock)).purged, []);
});

test('an answer that waits to be written is not written after a purge', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url);
  await acquaint(one, 'shop:a');
  one.tier.set('shop:a', answerOf(1), 60_000);
  const purged = one.tier.purge();
  one.tier.set('shop:b', answerOf(1), 60_000);
  await purged;
  for (const key of ['shop:a', 'shop:b']) t.false(await found(one, key));
});

test('an answer that was written under an older generation than the present one is not found', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const replica of [one, other]) await acquaint(replica, 'shop:a');
  // The other one has asked its backend before the purge, and hears of it only later.
  await one.tier.purge();
  await put(other, 'shop:a', answerOf(1));
  t.false(await found(one, 'shop:a'));
  t.false(await found(other, 'shop:a'));
});

test('a store that has lost its generations, all or those of a tenant, is begun anew and purges nobody', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const lose of ['all', 'tenant', 'everything'] as const) {
    await acquaint(one, 'shop:a');
    await put(one, 'shop:a', answerOf(1));
    t.true(await found(other, 'shop:a'));
    for (const name of store.held.keys())
      if (lose === 'everything' || (lose === 'all' ? name === all : name.startsWith(`${all}:`)))
        store.held.delete(name);
    t.false(await found(one, 'shop:a'));
    t.false(await found(other, 'shop:a'), lose);
    await eventually(async () => {
      await other.tier.tick();
      return other.tier.isReadyFor('shop:a') && found(other, 'shop:b').then(() => true);
    });
  }
  t.deepEqual([one.purged, other.purged], [[], []]);
});

test('a store that comes back as it was before a purge has nothing of what was purged', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const replica of [one, other]) await acquaint(replica, 'shop:a');
  await put(one, 'shop:a', answerOf(1));
  const before = new Map(store.held);
  await one.tier.purgeBeginning('shop:');
  store.held.clear();
  for (const [name, held] of before) store.held.set(name, held);
  t.false(await found(one, 'shop:a'));
  await eventually(() => one.tier.tick().then(() => one.tier.isReadyFor('shop:a')));
  t.false(await found(other, 'shop:a'), 'and tells the others');
  t.true(one.records.some(({ body }) => body.includes('forgotten a purge')));
});

test('a purge while the store is gone is made up for before anything of it is used again', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  await acquaint(one, 'shop:a');
  await put(one, 'shop:a', answerOf(1));
  await store.stop();
  await one.tier.purge();
  t.true(one.records.some(({ body }) => body.includes('was not told of a purge')));
  await store.listen();
  await eventually(async () => {
    clock.advance(1_000);
    await one.tier.tick();
    return one.told.isOn;
  });
  t.false(await found(one, 'shop:a'));
  await eventually(async () => {
    clock.advance(1_000);
    await other.tier.tick();
    return other.told.isOn;
  });
  t.false(await found(other, 'shop:a'));
  t.deepEqual(other.purged, ['*']);
});

test('a purge of a store that is full deletes the generation, and is told when there is room', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  for (const replica of [one, other]) await acquaint(replica, 'shop:a');
  await put(one, 'shop:a', answerOf(1));
  store.faults.instead = (command) =>
    command === 'SET' ? "-OOM command not allowed when used memory > 'maxmemory'.\r\n" : undefined;
  await one.tier.purge();
  for (const replica of [one, other]) t.false(await found(replica, 'shop:a'));
  delete store.faults.instead;
  await eventually(async () => {
    await one.tier.tick();
    await other.tier.tick();
    return other.purged.length > 0;
  });
  t.deepEqual(other.purged, ['*']);
  await acquaint(other, 'shop:a');
  t.false(await found(other, 'shop:a'));
});

test('the followed generations are bounded, the purges that wait become one', (t) => {
  const generations = new SharedGenerations(() => 1_000_000);
  for (let number = 0; number < 10_100; number += 1)
    generations.learn({ tenant: String(number) }, generations.first());
  t.true(generations.followed.length <= 10_002);
  for (let number = 0; number < 10_100; number += 1) generations.purge({ tenant: String(number) });
  t.true(generations.pending.length <= 10_000);
  t.true(generations.isPending('any'));
});

/** The more often, the likelier. */
const kinds =
  'ask ask ask ask ask keep keep keep keep begin begin end end end purge purge-all tick evict'.split(' ');
/** A step of the model: which of two replicas does what with a key of which tenant. */
const steps = fc.array(
  fc.record({
    who: fc.nat(1),
    what: fc.constantFrom(...kinds),
    tenant: fc.constantFrom('shop', 'dept'),
  }),
  { minLength: 40, maxLength: 60 },
);

test('whatever replicas do, none finds what the data was before a purge', async (t) => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (run) => {
      const store = await FakeStore.start(t);
      const clock = new FakeClock();
      const replicas: Replica[] = [];
      /** What a replica has asked its backend for, by tenant: it is dropped when a purge is heard of, as the store of answers does. */
      const asked = new Map<string, string>();
      for (let number = 0; number < 2; number += 1) {
        const forget = (tenant: string | undefined): void => {
          for (const key of asked.keys())
            if (key.startsWith(`${number} `) && (tenant === undefined || key.endsWith(` ${tenant}`)))
              asked.delete(key);
        };
        const replica = await replicaOf(t, store.url, clock, {
          purge: async (tenant) => {
            forget(tenant);
            await (tenant === undefined ? replica.tier.purge() : replica.tier.purgeBeginning(`${tenant}:`));
          },
        });
        replicas.push(replica);
      }
      /** The version of the data of a tenant, and the oldest that may be answered. */
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
    { endOnFailure: true, numRuns: 20 },
  );
  t.true(hits > 10, `${hits} answers were found`);
});
