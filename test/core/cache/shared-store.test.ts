import test from 'ava';
import fc from 'fast-check';
import { FakeClock } from '../../../core/testing/index.js';
import { answerOf } from './disk-answers.js';
import { FakeStore } from './fake-store.js';
import { acquaint, eventually, put, replicaOf } from './shared.js';

const hour = 3_600_000;

test('what one replica keeps the others find, with the time that is left', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const [one, other] = [await replicaOf(t, store.url, clock), await replicaOf(t, store.url, clock)];
  t.is(await one.tier.get('shop:a'), undefined);
  await acquaint(one, 'shop:a');
  await put(one, 'shop:a', answerOf(1), hour);
  clock.advance(600_000);
  t.deepEqual(await other.tier.get('shop:a'), {
    packed: answerOf(1),
    leftMs: hour - 600_000,
    ageMs: 600_000,
  });
  t.is(await other.tier.get('shop:b'), undefined);
  t.is(await other.tier.get('dept:a'), undefined);
  t.deepEqual([other.told.hits, other.told.misses, one.told.wrotes, other.told.isOn], [1, 2, 1, true]);
});

test('names in the store tell nothing, are of one length and begin with the prefix; a value ends with its freshness', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url, undefined, { prefix: 'site-1:' });
  await acquaint(one, 'shop:a');
  await put(one, `shop:${'x'.repeat(100_000)}`, answerOf(1), hour);
  t.true([...store.held.keys()].every((name) => name.startsWith('site-1:') && name.length < 80));
  t.false([...store.held.keys()].join().includes('shop'));
  const [name = ''] = store.names;
  const leftMs = (store.held.get(name)?.untilMs ?? 0) - performance.now();
  t.true(leftMs <= hour && leftMs > hour - 60_000);
});

test('with another prefix or another secret nothing is found, and a forged answer is not believed', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const ours = await replicaOf(t, store.url, clock, { secret: 'ours' });
  const others = [
    await replicaOf(t, store.url, clock, { prefix: 'other:', secret: 'ours' }),
    await replicaOf(t, store.url, clock, { secret: 'theirs' }),
    await replicaOf(t, store.url, clock),
  ];
  await acquaint(ours, 'shop:a');
  await put(ours, 'shop:a', answerOf(1));
  for (const other of others) t.is(await other.tier.get('shop:a'), undefined);
  t.deepEqual((await ours.tier.get('shop:a'))?.packed, answerOf(1));
});

test('a value under the name of another, with any bit flipped, cut or replaced, is dropped and told once', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url);
  await acquaint(one, 'shop:a');
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
        t.is(await one.tier.get('shop:a'), undefined);
      },
    ),
    { endOnFailure: true, numRuns: 100 },
  );
  t.true((one.told.drops.get('damaged') ?? 0) > 20);
  t.is(one.records.filter(({ body }) => body.includes('not what was written')).length, 1);
  store.held.set(name, { value: good, untilMs });
  t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
});

test('answers with little time left are neither written nor used', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const one = await replicaOf(t, store.url, clock);
  await acquaint(one, 'shop:a');
  one.tier.set('shop:short', answerOf(1), 4_999);
  await put(one, 'shop:a', answerOf(2), 10_000);
  t.is(store.names.length, 1);
  clock.advance(5_000);
  t.is((await one.tier.get('shop:a'))?.leftMs, 5_000);
  clock.advance(1);
  t.is(await one.tier.get('shop:a'), undefined);
});

test('where the clocks of replicas differ, the time that the store counts is what is left', async (t) => {
  const store = await FakeStore.start(t);
  const ahead = new FakeClock();
  ahead.advance(40_000);
  const [fast, slow] = [await replicaOf(t, store.url, ahead), await replicaOf(t, store.url)];
  await acquaint(fast, 'shop:a');
  await put(fast, 'shop:a', answerOf(1), 60_000);
  const hit = await slow.tier.get('shop:a');
  t.true(hit !== undefined && hit.leftMs <= 60_000 && hit.ageMs === 0);
});

test('an answer over 8 MiB is refused, and what waits is bounded in entries and bytes', async (t) => {
  const store = await FakeStore.start(t);
  const one = await replicaOf(t, store.url);
  await acquaint(one, 'shop:a');
  one.tier.set('shop:large', Buffer.alloc(8 * 1024 * 1024 + 1), hour);
  t.is(one.told.drops.get('refused'), 1);
  const large = Buffer.alloc(8 * 1024 * 1024);
  for (let number = 0; number < 10; number += 1) one.tier.set(`shop:${number}`, large, hour);
  t.is(one.told.drops.get('refused'), 1 + 7, 'three of them fit, with their keys');
  await eventually(() => Promise.resolve(one.told.wrotes === 3));
  for (let number = 0; number < 1_100; number += 1)
    one.tier.set(`shop:small ${number}`, answerOf(number, 10), hour);
  t.is(one.told.drops.get('refused'), 8 + 100);
  await eventually(() => Promise.resolve(one.told.wrotes === 1_003));
  t.true(one.told.mostWaiting <= 32 * 1024 * 1024);
  t.is(one.tier.waitingBytes, 0);
});
