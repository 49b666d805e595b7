import test from 'ava';
import fc from 'fast-check';
import { VolumeBuckets } from '../../../../core/engine/volume/volume-buckets.js';

const second = 1_000_000_000n;
const kib = 1024;
const now = 10_000n * second;
/** A time long after all data. */
const later = 200_000n * second;

function sharesOf(
  buckets: VolumeBuckets,
  firstNs: bigint,
  lastNs: bigint,
  bytes: number,
  entries = 1000,
): number[] {
  const shares = new Array<number>(buckets.count).fill(-1);
  for (const share of buckets.sharesOf({ firstNs, lastNs, entries, bytes }))
    shares[share.index] = share.bytes;
  return shares;
}

test('buckets end a millisecond before the next multiple of the step, the last one at the end', (t) => {
  const buckets = new VolumeBuckets({ startNs: 90n * second, endNs: 250n * second }, 60n * second, now);
  t.is(buckets.count, 4);
  t.deepEqual(
    [0, 1, 2, 3].map((index) => buckets.stampMs(index)),
    [119_999, 179_999, 239_999, 250_000],
  );
});

test('an end on a multiple of the step is the stamp of the last bucket', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 120n * second }, 60n * second, now);
  t.is(buckets.count, 2);
  t.deepEqual([buckets.stampMs(0), buckets.stampMs(1)], [59_999, 120_000]);
});

test('a range without length is one bucket', (t) => {
  const buckets = new VolumeBuckets({ startNs: 60n * second, endNs: 60n * second }, 60n * second, now);
  t.is(buckets.count, 1);
});

test('a piece is spread evenly over its time, to the last byte', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 180n * second }, 60n * second, now);
  t.deepEqual(sharesOf(buckets, 30n * second, 150n * second, 1001), [250, 501, 250]);
  t.deepEqual(sharesOf(buckets, 61n * second, 61n * second, 26, 1), [-1, 26, -1]);
});

test('an old piece is counted in KiB, rounded down by bucket', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 180n * second }, 60n * second, later);
  t.deepEqual(sharesOf(buckets, 30n * second, 150n * second, 10 * kib), [2 * kib, 5 * kib, 2 * kib]);
  t.deepEqual(sharesOf(buckets, 61n * second, 61n * second, 2600, 1), [-1, 3 * kib, -1]);
});

test('old small pieces give buckets of nothing, and buckets without an entry are not there', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 180n * second }, 60n * second, later);
  t.deepEqual(sharesOf(buckets, 0n, 179n * second, 2000, 30), [0, 0, 0]);
  t.deepEqual(sharesOf(buckets, 55n * second, 179n * second, 9 * kib, 4), [-1, 4 * kib, 4 * kib]);
});

test('what lies beyond the next minutes is counted as what is old', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 180n * second }, 60n * second, -700n * second);
  t.deepEqual(sharesOf(buckets, 0n, 179n * second, 2000, 30), [0, 0, 0]);
});

test('a piece that begins in the last second of a bucket begins in the next, and loses nothing', (t) => {
  const buckets = new VolumeBuckets({ startNs: 0n, endNs: 180n * second }, 60n * second, now);
  t.deepEqual(sharesOf(buckets, 59n * second + 1n, 179n * second, 1200), [-1, 610, 590]);
  t.deepEqual(sharesOf(buckets, 59n * second + 1n, 59n * second + 2n, 7), [7, -1, -1]);
  const seconds = new VolumeBuckets({ startNs: 0n, endNs: 2n * second }, second, now);
  t.deepEqual(sharesOf(seconds, 0n, 2n * second - 1n, 10), [5, 5]);
});

test('shares add up to the piece', (t) => {
  const times = fc.tuple(
    fc.nat(10_000),
    fc.nat(10_000),
    fc.integer({ min: 1, max: 3000 }),
    fc.nat(1_000_000),
  );
  fc.assert(
    fc.property(times, ([a, b, step, bytes]) => {
      const [from, to] = [BigInt(Math.min(a, b)), BigInt(Math.max(a, b))];
      const buckets = new VolumeBuckets({ startNs: 0n, endNs: 10_001n * second }, BigInt(step) * second, now);
      const shares = sharesOf(buckets, from * second, to * second, bytes).filter((share) => share !== -1);
      t.is(
        shares.reduce((sum, share) => sum + share, 0),
        bytes,
      );
      t.true(shares.every((share) => share >= 0));
    }),
  );
});
