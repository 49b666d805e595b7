import type { TimeRange } from '../../core/base/time/range.js';
import type { Columns } from '../../core/logql/metric/index.js';
import { visit, type LogRange, type MetricExpr } from '../../core/logql/index.js';

/** The location of data: the old Loki, the backend, or both. */
export type Side = 'old' | 'new';
export type Place = Side | 'both';

/** The part of [startNs, endNs) that lies on a side; undefined if there is none. A range without length lies where it begins. */
export function rangeOn(side: Side, range: TimeRange, untilNs: bigint): TimeRange | undefined {
  const { startNs, endNs } = range;
  if (startNs >= endNs) return side === sideOf(startNs, untilNs) ? range : undefined;
  const part =
    side === 'old'
      ? { startNs, endNs: endNs < untilNs ? endNs : untilNs }
      : { startNs: startNs < untilNs ? untilNs : startNs, endNs };
  return part.startNs < part.endNs ? part : undefined;
}

function sideOf(timeNs: bigint, untilNs: bigint): Side {
  return timeNs < untilNs ? 'old' : 'new';
}

/** The times that old data has: [oldestNs, untilNs), where a tenant may not read older data. */
export interface OldTimes {
  readonly oldestNs: bigint | undefined;
  readonly untilNs: bigint;
}

/** The ranges of a query, each `(t - offset - interval, t - offset]` at a time t. */
export function rangesOf(expr: MetricExpr): readonly LogRange[] {
  const ranges: LogRange[] = [];
  visit(expr, (node) => {
    if (node.kind === 'log-range') ranges.push(node);
  });
  return ranges;
}

/** The location of the data that ranges read at a time. */
export function placeAt(timeNs: bigint, ranges: readonly LogRange[], { oldestNs, untilNs }: OldTimes): Place {
  const isNew = ranges.every((range) => leftOf(timeNs, range) >= untilNs - 1n);
  if (isNew) return 'new';
  const isOld = ranges.every(
    (range) =>
      timeNs - range.offsetNanoseconds < untilNs &&
      (oldestNs === undefined || leftOf(timeNs, range) >= oldestNs - 1n),
  );
  return isOld ? 'old' : 'both';
}

/** The left end of a range, which it does not include. */
export function leftOf(timeNs: bigint, { offsetNanoseconds, intervalNanoseconds }: LogRange): bigint {
  return timeNs - offsetNanoseconds - intervalNanoseconds;
}

/** Adjacent columns whose data has the same location. */
export interface Run {
  readonly place: Place;
  /** Index of its first column. */
  readonly from: number;
  readonly columns: Columns;
}

/** Splits columns by the location of their data, in order. */
export function runsOf(columns: Columns, ranges: readonly LogRange[], times: OldTimes): readonly Run[] {
  const runs: { place: Place; from: number; count: number }[] = [];
  for (let column = 0; column < columns.count; column += 1) {
    const place = placeAt(columnTime(columns, column), ranges, times);
    const last = runs.at(-1);
    if (last?.place === place) last.count += 1;
    else runs.push({ place, from: column, count: 1 });
  }
  return runs.map(({ place, from, count }) => ({ place, from, columns: part(columns, from, count) }));
}

/** The time of a column. */
export function columnTime({ firstNs, stepMs }: Columns, column: number): bigint {
  return firstNs + BigInt(column * stepMs) * 1_000_000n;
}

export function part(columns: Columns, from: number, count: number): Columns {
  return { ...columns, firstNs: columnTime(columns, from), count };
}
