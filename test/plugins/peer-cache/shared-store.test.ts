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
  startedOf,
  tryPut,
} from './shared-replicas.js';

const hour = 3_600_000;
const oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

test('what one replica keeps the others find in the store, with the time that is left', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, { clock }), await replicaOf(t, store.url, { clock })];
  t.false(await found(one, 'shop:a'));
  await tryPut(one, 'shop:a', answerOf(1), hour);
  clock.advance(600_000);
  t.deepEqual(await other.tier.get('shop:a'), {
    packed: answerOf(1),
    leftMs: hour - 600_000,
    ageMs: 600_000,
  });
  t.false(await found(other, 'shop:b'));
  t.false(await found(other, 'dept:a'));
  t.deepEqual(
    [
      await counted(other, 'hits_total'),
      await counted(other, 'misses_total'),
      await counted(one, 'sets_total'),
    ],
    [1, 2, 1],
  );
});

test('names in the store tell nothing, are of one length and begin with the prefix; a value ends with its freshness', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url, { prefix: 'site-1:' });
  await put(one, `shop:${'x'.repeat(100_000)}`, answerOf(1), hour);
  t.true([...store.held.keys()].every((name) => name.startsWith('site-1:') && name.length < 80));
  t.false([...store.held.keys()].join().includes('shop'));
  const [name = ''] = store.names;
  const leftMs = (store.held.get(name)?.untilMs ?? 0) - performance.now();
  t.true(leftMs <= hour && leftMs > hour - 60_000);
});

test('with another prefix or another secret nothing is found in the store', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const ours = await replicaOf(t, store.url, { clock, secret: 'ours' });
  await put(ours, 'shop:a', answerOf(1));
  for (const settings of [{ prefix: 'other:', secret: 'ours' }, { secret: 'theirs' }, {}])
    t.false(await found(await replicaOf(t, store.url, { clock, ...settings }), 'shop:a'));
  t.deepEqual((await ours.tier.get('shop:a'))?.packed, answerOf(1));
});

test('a value under the name of another, with any bit flipped, cut or replaced, is dropped and told once', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url, { secret: 'ours' });
  await put(one, 'shop:a', answerOf(1));
  const [name = ''] = store.names;
  const good = store.held.get(name)?.value ?? Buffer.alloc(0);
  const untilMs = performance.now() + hour;
  await put(one, 'shop:b', answerOf(2));
  const other = store.names.find((each) => each !== name) ?? '';
  store.held.set(other, { value: good, untilMs });
  t.is(await one.tier.get('shop:b'), undefined, 'the value of another key');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(good.byteLength * 8 - 1),
      fc.constantFrom('flip', 'cut', 'text'),
      async (bit, kind) => {
        let value = Buffer.from(good);
        if (kind === 'flip') value[bit >> 3] = (value[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        else value = kind === 'cut' ? value.subarray(0, bit >> 3) : Buffer.from(`somebody else's ${bit}`);
        store.held.set(name, { value, untilMs });
        // Some bits of gzip have no effect.
        const hit = await one.tier.get('shop:a');
        t.true(hit === undefined || hit.packed.equals(answerOf(1)));
      },
    ),
    { endOnFailure: true, numRuns: 100 },
  );
  t.true((await counted(one, 'drops_total', { reason: 'damaged' })) > 20);
  t.is(saidOf(one, 'not the value written'), 1);
  store.held.set(name, { value: good, untilMs });
  t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
});

test('answers with little time left are neither written to the store nor used', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url);
  // The store counts real time, so these times are long enough for a busy machine.
  await put(one, 'shop:a', answerOf(2), 200_000);
  one.tier.set('shop:short', answerOf(1), 4_999);
  await put(one, 'shop:b', answerOf(2), 200_000);
  t.is(store.names.length, 2);
  one.clock.advance(195_000);
  t.is((await one.tier.get('shop:a'))?.leftMs, 5_000);
  one.clock.advance(1);
  t.is(await one.tier.get('shop:a'), undefined);
});

test('where the clocks of replicas differ, the time that the store counts is what is left', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  clock.advance(40_000);
  const [fast, slow] = [await replicaOf(t, store.url, { clock }), await replicaOf(t, store.url)];
  await put(fast, 'shop:a', answerOf(1), 60_000);
  const hit = await slow.tier.get('shop:a');
  t.true(hit !== undefined && hit.leftMs <= 60_000 && hit.ageMs === 0);
  // As if forty seconds had passed, which the slow clock does not show.
  for (const held of store.held.values()) held.untilMs = performance.now() + 20_000;
  t.true(((await slow.tier.get('shop:a'))?.leftMs ?? Infinity) <= 20_000);
});

test('an answer over 8 MiB is refused, and what is on its way to the store is bounded', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url);
  await one.tier.get('shop:a');
  one.tier.set('shop:large', Buffer.alloc(8 * 1024 * 1024 + 1), hour);
  t.is(await counted(one, 'drops_total', { reason: 'refused' }), 1);
  const large = Buffer.alloc(8 * 1024 * 1024);
  for (let number = 0; number < 10; number += 1) one.tier.set(`shop:${number}`, large, hour);
  t.true(one.tier.waitingBytes <= 32 * 1024 * 1024);
  await eventually(async () => (await counted(one, 'sets_total')) === 4);
  t.is(await counted(one, 'drops_total', { reason: 'refused' }), 1 + 6);
  t.is(one.tier.waitingBytes, 0);
});

test('a store that is not there, goes and comes back is one log record each time, and keeps nobody waiting', async (t) => {
  const store = await FakeStore.start(t);
  await store.stop();
  const one = await startedOf(t, store.url);
  await eventually(async () => {
    await one.tier.tick();
    return saidOf(one, 'failed and is turned off') === 1;
  });
  t.is(await one.tier.get('shop:a'), undefined);
  one.tier.set('shop:a', answerOf(1), 60_000);
  t.is(await counted(one, 'drops_total', { reason: 'off' }), 1);
  await store.listen();
  await backOf(one);
  await put(one, 'shop:a', answerOf(1), 1e9);
  await store.stop();
  await eventually(async () => !(await isUp(one)));
  t.is(await one.tier.get('shop:a'), undefined);
  await store.listen();
  await backOf(one);
  t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
  t.deepEqual([saidOf(one, 'failed and is turned off'), saidOf(one, 'works again')], [2, 2]);
});

test('a wrong password of the store, or none, turns it off and is in no log', async (t) => {
  const store = await FakeStore.start(t);
  store.password = 'right-one';
  for (const url of [
    store.url,
    store.url.replace('//', '//:wr%6Fng-one@'),
    store.url.replace('//', '//:right-one@'),
  ]) {
    const one = await startedOf(t, url);
    // Like an old server, which echoes unknown commands.
    store.faults.instead = (command, args) =>
      command === 'AUTH' ? `-ERR AUTH unknown command with ${args.join(' ')}\r\n` : undefined;
    const other = await startedOf(t, url);
    for (const replica of [one, other]) for (let time = 0; time < 6; time += 1) await replica.tier.tick();
    t.is(await isUp(one), url.includes('right-one'), url);
    t.is((await counted(one, 'errors_total', { reason: 'auth' })) > 0, !url.includes('right-one'));
    t.notRegex(JSON.stringify([one.host.records, other.host.records]), /wr%6Fng-one|wrong-one|right-one/);
    delete store.faults.instead;
  }
});

test('a store that takes no answers is read on, and written again when it takes them', async (t) => {
  for (const answer of [oom, "-READONLY You can't write against a read only replica.\r\n"]) {
    const store = await FakeStore.start(t);
    const one = await replicaOf(t, store.url);
    await put(one, 'shop:a', answerOf(1));
    store.faults.instead = (command) => (command === 'SET' ? answer : undefined);
    for (let time = 0; time < 10; time += 1) await tryPut(one, 'shop:b', answerOf(2));
    t.deepEqual(
      [
        await counted(one, 'drops_total', { reason: 'lost' }),
        await isUp(one),
        saidOf(one, 'command of the shared'),
      ],
      [10, true, 1],
    );
    t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
    delete store.faults.instead;
    await put(one, 'shop:b', answerOf(2));
    t.true(await found(one, 'shop:b'));
  }
});

test('a store that speaks nonsense is left, whatever it says, and nothing of it is believed', async (t) => {
  const nonsense: readonly (string | Buffer)[] = [
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    '$4\r\nevil\r\n$4\r\nmore\r\n',
    '*2\r\n$1\r\na\r\n$1\r\nb\r\n*0\r\n:7\r\n',
    '$99999999999\r\nx',
    `${'*1\r\n'.repeat(50_000)}:1\r\n`,
    Buffer.from([0, 1, 2, 255, 254, 13, 10]),
    '+OK\r\n',
    ':12\r\n',
    '_\r\n',
  ];
  for (const answer of nonsense) {
    const store = await FakeStore.start(t);
    const one = await replicaOf(t, store.url, { mostWaitMs: 100 });
    await put(one, 'shop:a', answerOf(1), 1e9);
    store.faults.instead = () => answer;
    while (saidOf(one, 'failed and is turned off') === 0)
      t.is(await one.tier.get('shop:a'), undefined, String(answer).slice(0, 40));
    delete store.faults.instead;
    // A busy machine may exceed the timeout again, so the store is retried several times.
    await eventually(async () => {
      await backOf(one);
      return found(one, 'shop:a');
    });
  }
});

test('a look-up waits for a slow store only for its timeout, and after some of them not at all', async (t) => {
  // A late timer counts only up to its part of the timeout, so a busy machine waits longer; the delay is far above that.
  for (const fault of [{ delayMs: 60_000 }, { isSilent: true }]) {
    const store = await FakeStore.start(t);
    const one = await replicaOf(t, store.url, { mostWaitMs: 20 });
    await put(one, 'shop:a', answerOf(1), 1e9);
    Object.assign(store.faults, fault);
    while (saidOf(one, 'failed and is turned off') === 0) t.is(await one.tier.get('shop:a'), undefined);
    const asked = store.counts.get('GETRANGE') ?? 0;
    const many = Array.from({ length: 2_000 }, () => one.tier.get('shop:a'));
    for (let number = 0; number < 2_000; number += 1)
      one.tier.set(`shop:${number}`, answerOf(number, 100), hour);
    t.true((await Promise.all(many)).every((hit) => hit === undefined));
    t.is(store.counts.get('GETRANGE') ?? 0, asked, 'it is not asked any more');
    t.is(one.tier.waitingBytes, 0);
    store.faults.delayMs = 0;
    store.faults.isSilent = false;
    await backOf(one);
    await eventually(() => found(one, 'shop:a'));
  }
});
