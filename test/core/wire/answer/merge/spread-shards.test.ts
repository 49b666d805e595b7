import test from 'ava';
import fc from 'fast-check';
import { shardCount, spreadShards } from '../../../../../core/wire/answer/merge/spread-shards.js';

test('there are as many shards as it takes for none to be too big', (t) => {
  t.is(shardCount(0, 100), 1);
  t.is(shardCount(100, 100), 1);
  t.is(shardCount(101, 100), 2);
  t.is(shardCount(1e18, 1), 256);
});

test('shards cover all fingerprints without a gap and hold everything', (t) => {
  const totals = fc.record({ streams: fc.nat(), chunks: fc.nat(), bytes: fc.nat(), entries: fc.nat() });
  fc.assert(
    fc.property(totals, fc.constantFrom(1, 2, 4, 64), (all, count) => {
      const shards = spreadShards(all, count);
      t.is(shards[0]?.min, 0n);
      t.is(shards.at(-1)?.max, 2n ** 64n - 1n);
      for (const [index, { min }] of shards.entries())
        if (index > 0) t.is(min, (shards[index - 1]?.max ?? 0n) + 1n);
      t.is(
        shards.reduce((sum, { bytes }) => sum + bytes, 0),
        all.bytes,
      );
      t.is(
        shards.reduce((sum, { streams }) => sum + streams, 0),
        all.streams,
      );
    }),
  );
});
