import test from 'ava';
import fc from 'fast-check';
import { denseRows } from '../../../../../core/engine/metric/count/duplicates.js';
import { mergeRepeats, type SegmentRepeats } from '../../../../../core/engine/metric/count/found-repeats.js';
import { parseRowTime, RowReader } from '../../../../../core/victoria/names/row-reader.js';
import { Naming } from '../../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../../core/testing/options.js';
import { printFilter } from '../../../../../core/victoria/logsql/print.js';
import type { LogsqlFilter } from '../../../../../core/victoria/logsql/ast.js';
import type { BackendRow } from '../../../../../core/victoria/upstream/types.js';
import { printRfc3339 } from '../../../../../core/base/time/index.js';
import { deepRuns } from '../../../../setup/runs.js';

const segmentNs = 1_000_000_000_000n;
const base = 1793491200000000000n;
const reader = new RowReader(new Naming(namesOptions()));

interface Segment {
  /** Number of surplus rows. */
  readonly surplus: number;
  readonly streams: number;
  readonly comparesLines: boolean;
  /** Number of rows that the backend would deduplicate. */
  readonly denseRows: number;
  /** False if the backend cannot tell which rows are distinct. */
  readonly canBeDense: boolean;
}

function repeatsOf({ surplus: count, ...one }: Segment, index: number): SegmentRepeats {
  const startNs = base + BigInt(index) * segmentNs;
  const times = Array.from({ length: count }, (_, n) => startNs + 100n + BigInt(n) * 7n);
  const surplus = times.map((ns): BackendRow => ({ _time: printRfc3339(ns), _stream: '{a="0"}', _msg: 'x' }));
  const streams = new Set(Array.from({ length: one.streams }, (_, n) => `{a="${n}"}`));
  const range = { startNs: startNs + 100n, endNs: startNs + 101n + BigInt(count) * 7n };
  const columns = one.comparesLines ? ['_time', '_msg'] : ['_time'];
  const dense = one.canBeDense && count > 0 ? [{ range, streams, columns }] : [];
  return { repeatedAt: times, surplus, surplusAt: [], dense, denseRows: one.denseRows };
}

/** True if a filter of times and streams matches a row of the stream `{a="0"}`. */
function matches(filter: LogsqlFilter, ns: bigint): boolean {
  if (filter.kind === 'and') return filter.parts.every((part) => matches(part, ns));
  if (filter.kind === 'or') return filter.parts.some((part) => matches(part, ns));
  if (filter.kind === 'time') return (filter.min ?? 0n) <= ns && ns <= (filter.max ?? ns);
  return filter.kind === 'stream' && printFilter(filter).includes('a="0"');
}

const segment: fc.Arbitrary<Segment> = fc.record({
  surplus: fc.oneof(fc.nat(3), fc.constantFrom(0, 3_000, 9_000)),
  streams: fc.constantFrom(1, 3, 60),
  comparesLines: fc.boolean(),
  denseRows: fc.constantFrom(0, 100, 1_000_000),
  canBeDense: fc.boolean(),
});

test('each repeated row is subtracted, or counted once by one call of the backend', (t) => {
  let overflows = 0;
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 12 }), (segments) => {
      const found = segments.map(repeatsOf);
      const { surplusElsewhere, dense } = mergeRepeats(found);
      const rows = found.flatMap(({ surplus = [] }) => surplus);
      // Only rows that the backend cannot deduplicate may exceed the limit.
      const fixed = found.filter((one) => one.dense.length === 0).flatMap(({ surplus = [] }) => surplus);
      t.is(surplusElsewhere === undefined, fixed.length > 20_000);
      t.true((surplusElsewhere?.length ?? 0) <= 20_000);
      if (rows.length > 20_000) overflows += 1;
      else if (found.every((one) => one.denseRows === 1_000_000)) t.is(surplusElsewhere?.length, rows.length);
      const subtracted = new Set(surplusElsewhere);
      const { parts = [] } = denseRows({ dense, surplusElsewhere }, reader) ?? {};
      if (surplusElsewhere === undefined) return;
      for (const row of rows) {
        const ns = parseRowTime(row._time ?? '');
        const calls = parts.filter(({ filter }) => matches(filter, ns)).length;
        if (calls + Number(subtracted.has(row)) !== 1) t.fail(`${calls} calls count ${row._time}`);
      }
    }),
    { numRuns: deepRuns(30, 100) },
  );
  t.true(overflows > 5);
});

test('filters of many segments stay short, and those of some segments leave the others out', (t) => {
  const segments = (count: number, surplus: number): readonly SegmentRepeats[] =>
    Array.from({ length: count }, (_, index) =>
      repeatsOf(
        {
          ...{ surplus, streams: 60, comparesLines: index % 3 === 0, canBeDense: true },
          denseRows: index % 2 === 0 ? 1_000_000 : 0,
        },
        index,
      ),
    );
  const { parts = [] } = denseRows(mergeRepeats(segments(2_000, 3)), reader) ?? {};
  t.is(parts.length, 1);
  t.true(parts.every(({ filter }) => printFilter(filter).length < 1000));
  const few = denseRows(mergeRepeats(segments(9, 300)), reader)?.parts ?? [];
  const isIn = (index: number): boolean =>
    few.some(({ filter }) => matches(filter, base + BigInt(index) * segmentNs + 100n));
  t.deepEqual([0, 1, 2, 3, 4, 5].map(isIn), [false, true, false, true, false, true]);
  // Another call would take longer than subtracting these.
  t.is(denseRows(mergeRepeats(segments(9, 100)), reader), undefined);
});
