import test from 'ava';
import fc from 'fast-check';
import { ByteLru, type DropReason } from '../../../../core/base/memory/byte-lru.js';
import { FakeClock } from '../../../../core/testing/index.js';

interface Made {
  readonly cache: ByteLru<string>;
  readonly clock: FakeClock;
  readonly dropped: DropReason[];
  readonly sizes: [entries: number, bytes: number][];
}
function make(maxEntries = 100, maxBytes = 10_000): Made {
  const clock = new FakeClock();
  const dropped: DropReason[] = [];
  const sizes: [number, number][] = [];
  const observer = {
    dropped: (reason: DropReason): number => dropped.push(reason),
    resized: (entries: number, bytes: number): number => sizes.push([entries, bytes]),
  };
  return { cache: new ByteLru({ maxEntries, maxBytes, clock, observer }), clock, dropped, sizes };
}

test.serial('a value is there until its time to live is over', (t) => {
  const { cache, clock, dropped } = make();
  t.true(cache.set('a', 'value', 5, 1000));
  clock.advance(999);
  t.is(cache.get('a'), 'value');
  clock.advance(1);
  t.is(cache.get('a'), undefined);
  t.deepEqual(dropped, ['expired']);
  t.is(cache.bytes, 0);
});

test.serial('the least recently used entry goes first', (t) => {
  const { cache, dropped } = make(2);
  cache.set('a', '1', 1, 1000);
  cache.set('b', '2', 1, 1000);
  cache.get('a');
  cache.set('c', '3', 1, 1000);
  t.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], ['1', undefined, '3']);
  t.deepEqual(dropped, ['evicted']);
});

test.serial('an entry over a tenth of the budget is refused and replaces nothing else', (t) => {
  const { cache, dropped } = make(100, 10_000);
  cache.set('small', 's', 1, 1000);
  t.false(cache.set('large', 'l', 1_000, 1000));
  t.is(cache.get('large'), undefined);
  t.is(cache.get('small'), 's');
  t.deepEqual(dropped, ['refused']);
});

test.serial('the largest entry may be given', (t) => {
  const clock = new FakeClock();
  const cache = new ByteLru<string>({ maxEntries: 10, maxBytes: 10_000, maxEntryBytes: 5000, clock });
  t.true(cache.set('a', 'large', 4000, 1000));
  t.false(cache.set('b', 'larger', 5001, 1000));
});

test.serial('a refused value does not leave the old one of its key behind', (t) => {
  const { cache } = make();
  cache.set('a', 'old', 1, 1000);
  cache.set('a', 'new', 5_000, 1000);
  t.is(cache.get('a'), undefined);
});

test.serial(
  'a value that grows takes room from the others, not from itself, and keeps its time to live',
  (t) => {
    const { cache, clock, dropped } = make(100, 10_000);
    for (const key of ['grown', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) cache.set(key, key, 800, 1000);
    const before = cache.bytes;
    t.true(cache.resize('grown', 'grown', 850));
    t.is(cache.bytes, before + 50);
    cache.set('k', 'k', 800, 1000);
    t.deepEqual(dropped, ['evicted']);
    t.deepEqual([cache.get('grown'), cache.get('b')], ['grown', undefined]);
    clock.advance(1000);
    t.is(cache.get('grown'), undefined);
  },
);

test.serial('a value that grows over a tenth of the budget, or is kept no longer, counts as before', (t) => {
  const { cache } = make(100, 10_000);
  cache.set('a', 'old', 1, 1000);
  const before = cache.bytes;
  t.false(cache.resize('a', 'old', 1_000));
  t.false(cache.resize('b', 'old', 2));
  cache.set('a', 'new', 1, 1000);
  t.false(cache.resize('a', 'old', 2));
  t.is(cache.bytes, before);
});

test.serial('a value without time to live is not kept', (t) => {
  const { cache } = make();
  t.false(cache.set('a', 'value', 1, 0));
  t.false(cache.set('b', 'value', 1, Number.NaN));
  t.is(cache.entries, 0);
});

test.serial('clearing gives all bytes back and tells so', (t) => {
  const { cache, sizes } = make();
  cache.set('a', '1', 1, 1000);
  cache.clear();
  t.is(cache.get('a'), undefined);
  t.deepEqual(sizes.at(-1), [0, 0]);
});

test.serial(
  'neither the entries nor the bytes ever exceed the budget, and the count of bytes is right',
  (t) => {
    const steps = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        act: fc.constantFrom('set', 'get', 'delete', 'resize'),
        bytes: fc.nat(600),
        ttl: fc.nat(50),
        wait: fc.nat(20),
      }),
    );
    fc.assert(
      fc.property(steps, (all) => {
        const { cache, clock } = make(4, 3_000);
        for (const { key, act, bytes, ttl, wait } of all) {
          clock.advance(wait);
          if (act === 'set') cache.set(key, key, bytes, ttl);
          else if (act === 'resize') cache.resize(key, key, bytes);
          else if (act === 'get') t.is(cache.get(key) ?? key, key);
          else cache.delete(key);
          t.true(cache.entries <= 4 && cache.bytes <= 3_000);
          t.is(cache.bytes === 0, cache.entries === 0);
        }
        for (const key of ['a', 'b', 'c', 'd', 'e']) cache.delete(key);
        t.is(cache.bytes, 0);
      }),
    );
  },
);

test.serial('what has expired makes room without being asked for, while others come', (t) => {
  const { cache, clock, dropped } = make(1_000, 100_000);
  for (let index = 0; index < 100; index += 1) cache.set(`old-${index}`, 'v', 1, 1000);
  clock.advance(1_000);
  for (let index = 0; index < 40; index += 1) cache.set(`new-${index}`, 'v', 1, 1000);
  t.is(cache.entries, 40);
  t.deepEqual([...new Set(dropped)], ['expired']);
});
