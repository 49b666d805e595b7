import test from 'ava';
import { ByteLru } from '../../../../core/base/memory/byte-lru.js';
import { CacheRoom } from '../../../../core/base/memory/cache-room.js';
import { HeapGrowth } from '../../../../core/base/memory/heap-growth.js';
import { FakeClock } from '../../../../core/testing/index.js';

const mebibyte = 1024 ** 2;

function full(maxBytes: number): ByteLru<string> {
  const cache = new ByteLru<string>({ maxEntries: 10_000, maxBytes, clock: new FakeClock() });
  for (let number = 0; number < 2_000; number += 1) cache.set(`${number}`, 'x', 200_000, 60_000);
  return cache;
}

test.serial(
  'caches make room, the oldest entries first, while the process takes more than its bound, and get it back',
  (t) => {
    const room = new CacheRoom(256 * mebibyte);
    const [large, small] = [full(230 * mebibyte), full(26 * mebibyte)];
    room.add(large);
    room.add(small);
    const before = large.bytes;
    for (let look = 0; look < 10; look += 1) room.observe(room.bound + 64 * mebibyte);
    t.true(large.bytes < before / 2 && small.bytes < 13 * mebibyte);
    t.is(large.get('1'), undefined);
    t.is(large.get('1999'), 'x');
    t.true(large.set('new', 'x', 1_000_000, 60_000));
    for (let look = 0; look < 200; look += 1) room.observe(room.bound + 64 * mebibyte);
    t.is(room.share, 1 / 8);
    t.true(large.bytes > 0 && large.bytes <= 230 * mebibyte * room.share);
    t.false(large.set('larger than what is left', 'x', 20 * mebibyte + 10 * mebibyte, 60_000));
    for (let look = 0; look < 50; look += 1) room.observe(room.bound - 1);
    t.is(room.share, 1 / 8, 'near the bound nothing is given back');
    for (let look = 0; look < 200; look += 1) room.observe(room.bound / 2);
    t.is(room.share, 1);
    t.true(large.set('fits again', 'x', 20 * mebibyte, 60_000));
  },
);

test.serial('a cache that comes later is held to the share of the others', (t) => {
  const room = new CacheRoom(100 * mebibyte);
  for (let look = 0; look < 5; look += 1) room.observe(room.bound + 40 * mebibyte);
  const late = full(50 * mebibyte);
  room.add(late);
  t.true(room.share < 1 && late.bytes <= 50 * mebibyte * room.share);
});

test.serial('caches make no room for what is held beside them under a bound of its own', (t) => {
  let held = 200 * mebibyte;
  const room = new CacheRoom(256 * mebibyte, new Set([() => held]));
  const asMuchAs = room.bound / 2 + 200 * mebibyte;
  room.observe(asMuchAs);
  t.is(room.share, 1);
  held = 0;
  room.observe(asMuchAs);
  t.true(room.share < 1);
});

/** A heap growth, with the percentages that are set. */
function recorded(): { readonly heap: HeapGrowth; readonly set: number[] } {
  const set: number[] = [];
  const heap = new HeapGrowth((percent) => void set.push(percent));
  heap.takeOver([]);
  return { heap, set };
}

const roomWith = (heap: HeapGrowth): CacheRoom => new CacheRoom(256 * mebibyte, new Set(), heap);

test.serial(
  'garbage is collected earlier before caches shrink, and caches grow again before it is not',
  (t) => {
    const { heap, set } = recorded();
    const room = roomWith(heap);
    const over = 0.9 * room.bound;
    for (let look = 0; look < 12; look += 1) room.observe(over);
    t.is(room.share, 1);
    t.deepEqual([set[0], set[1], set.at(-1), set.length], [150, 140, 30, 13]);
    room.observe(over);
    t.true(room.share < 1);
    t.is(set.length, 13, 'the heap is at its least growth');
    room.observe(room.bound / 2);
    t.is(heap.percent, 30);
    for (let look = 0; look < 100; look += 1) room.observe(room.bound / 2);
    t.deepEqual([room.share, heap.percent, set.at(-1)], [1, 150, 150]);
  },
);

test.serial('caches shrink at once when the process takes more than its bound', (t) => {
  const { heap, set } = recorded();
  const room = roomWith(heap);
  room.observe(room.bound + mebibyte);
  t.true(room.share < 1);
  t.deepEqual(set, [150, 140]);
});

for (const [why, flags] of [
  ['given to Node.js', ['--heap-growing-percent=20']],
  ['of a process that does not serve', undefined],
] as const)
  test.serial(`the heap growth ${why} is kept`, (t) => {
    const set: number[] = [];
    const heap = new HeapGrowth((percent) => void set.push(percent));
    if (flags !== undefined) heap.takeOver(flags);
    const room = roomWith(heap);
    room.observe(0.9 * room.bound);
    t.true(room.share < 1);
    t.is(heap.percent, undefined);
    t.deepEqual(set, []);
  });
