import test from 'ava';
import fc from 'fast-check';
import { LabelSet } from '../../../../../core/base/label-set.js';
import { parseQuery, type RangeAggregation } from '../../../../../core/logql/index.js';
import {
  gridColumns,
  defaultMetricLimits,
  RangeEngine,
  type Columns,
  type Grid,
} from '../../../../../core/logql/metric/index.js';
import { isDeclined } from '../../../../../core/engine/metric/cost.js';
import { rangeBuckets, endOfBucket, type Buckets } from '../../../../../core/engine/metric/count/counting.js';

const base = 1793491200000;

function rangeOf(rangeMs: number, offsetMs: number): RangeAggregation {
  const expr = parseQuery(`bytes_over_time({a="b"}[${rangeMs}ms] offset ${offsetMs}ms)`, {
    dottedNames: 'reject',
  });
  if (expr.kind !== 'range-aggregation') throw new Error(expr.kind);
  return expr;
}

/** Counts as the backend does: by bucket, and the start of each bucket is exact to the millisecond. */
function counted(times: readonly bigint[], { stepNs, shiftNs, range }: Buckets): Map<number, number> {
  const counts = new Map<number, number>();
  for (const at of times) {
    if (at < range.startNs || at >= range.endNs) continue;
    const begin = ((at - shiftNs) / stepNs) * stepNs + shiftNs;
    const seconds = Number(begin) / 1e9;
    counts.set(seconds, (counts.get(seconds) ?? 0) + 1);
  }
  return counts;
}

function windowCounts(
  times: readonly bigint[],
  columns: Columns,
  rangeMs: number,
  offsetMs: number,
): number[] {
  return Array.from({ length: columns.count }, (_none, column) => {
    const end = columns.firstNs + BigInt(column * columns.stepMs - offsetMs) * 1_000_000n;
    return times.filter((at) => at <= end && at > end - BigInt(rangeMs) * 1_000_000n).length;
  });
}

test('buckets put together are the windows, to the nanosecond', (t) => {
  const grids: fc.Arbitrary<Grid> = fc.oneof(
    fc.record({
      kind: fc.constant('range' as const),
      startMs: fc.integer({ min: base, max: base + 5000 }),
      endMs: fc.integer({ min: base + 5000, max: base + 20_000 }),
      stepMs: fc.constantFrom(500, 1000, 1500, 4000, 7000),
    }),
    fc.record({
      kind: fc.constant('instant' as const),
      timeNs: fc.bigInt(BigInt(base) * 1_000_000n, BigInt(base + 9000) * 1_000_000n),
    }),
  );
  // Many times are on bucket borders, or one nanosecond before or after one.
  const times = fc.array(
    fc
      .tuple(fc.integer({ min: -30, max: 50 }), fc.constantFrom(-1n, 0n, 1n))
      .map(([half, beside]) => BigInt(base + half * 500) * 1_000_000n + beside),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(
      grids,
      times,
      fc.constantFrom(500, 1000, 3000, 5000, 10_000),
      fc.constantFrom(0, 1500, 2000),
      (grid, stored, rangeMs, offsetMs) => {
        const range = rangeOf(rangeMs, offsetMs);
        const columns = gridColumns(grid);
        const buckets = rangeBuckets(columns, range.range);
        if (isDeclined(buckets)) throw new Error(buckets.declined);
        const engine = new RangeEngine(range, columns, { ...defaultMetricLimits, maxCells: 0, maxValues: 0 });
        for (const [seconds, count] of counted(stored, buckets)) {
          engine.add(LabelSet.empty, endOfBucket(seconds, buckets), count);
        }
        const [row] = [...engine.rows()];
        const got = Array.from({ length: columns.count }, (_none, at) => row?.values[at] ?? 0);
        t.deepEqual(got, windowCounts(stored, columns, rangeMs, offsetMs));
      },
    ),
    { numRuns: 500 },
  );
});

test('a range and a step with a small common divisor need many buckets', (t) => {
  const grid = { kind: 'range', startMs: base, endMs: base + 700_000, stepMs: 7000 } as const;
  const buckets = rangeBuckets(gridColumns(grid), rangeOf(300_000, 0).range);
  if (isDeclined(buckets)) return t.fail();
  t.is(buckets.stepNs, 1_000_000_000n);
  t.true(buckets.count > 900);
});
