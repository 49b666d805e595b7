import { textOrder } from '../../base/order.js';
import type { Point, SampleResult, SeriesResult, MetricLimits, MetricResult, SeriesRow } from './types.js';
import { pointBytes } from '../../base/memory/sizes.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { atPace, eachAtPace, sortSteps, type Steps } from '../../base/pace/steps.js';
import { seriesLimitError } from './series-index.js';
import { labelsText } from '../../base/labels/labels-text.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { MetricExpr } from '../ast.js';
import { visit } from '../walk.js';
import { firstMs, type Columns } from './windows.js';
import { compareLabels } from './grouping.js';

interface ResultOrder {
  readonly expr: MetricExpr;
  /** True if the query sorts its series itself. */
  readonly isSorted: boolean;
  /** True if series have already been left out. */
  readonly isCut: boolean;
}

/**
 * Makes the answer from a query's rows. Series are sorted by labels unless the query sorts them.
 * @throws ApiError `seriesLimit` for more series than allowed, unless the answer may be partial
 */
export async function metricResult(
  rows: readonly SeriesRow[],
  columns: Columns,
  { expr, isSorted, isCut }: ResultOrder,
  limits: MetricLimits,
  pacer: Pacer,
): Promise<MetricResult> {
  const joined = await joinEqual(rows, pacer);
  checkCount(joined.length, limits, isCut);
  const series =
    !isSorted || columns.kind === 'range'
      ? await atPace(
          sortSeriesOf(joined, ([first]) => first.labels, expr, columns, limits.splitMs),
          pacer,
        )
      : joined;
  const { warnings, kept } = await cut(series, limits, isCut, pacer);
  const start = firstMs(columns);
  if (columns.kind === 'instant') {
    const samples: SampleResult[] = [];
    await eachAtPace(kept, pacer, (group) => {
      for (const { labels, values } of group)
        samples.push({ labels, point: { timestampMs: start, value: values[0] ?? 0 } });
    });
    return { kind: 'vector', samples, warnings };
  }
  const matrix: SeriesResult[] = [];
  await eachAtPace(kept, pacer, (group) => {
    limits.memory.charge(pointBytes * countPoints(group), 'the points of the answer');
    matrix.push({ labels: group[0].labels, points: pointsOf(group, columns, start) });
  });
  return { kind: 'matrix', series: matrix, warnings };
}

/** At least one row, all with equal labels. */
type EqualRows = [SeriesRow, ...SeriesRow[]];

async function joinEqual(rows: readonly SeriesRow[], pacer: Pacer): Promise<EqualRows[]> {
  const byKey = new Map<string, EqualRows>();
  await eachAtPace(rows, pacer, (row) => {
    if (!row.present.includes(1)) return;
    const equal = byKey.get(row.labels.key);
    if (equal === undefined) byKey.set(row.labels.key, [row]);
    else equal.push(row);
  });
  return [...byKey.values()];
}

/** Checked before sorting, because there may be many series. */
function checkCount(count: number, { maxSeries, isPartial }: MetricLimits, isCut: boolean): void {
  if (!isPartial && (isCut || (maxSeries > 0 && count > maxSeries))) throw seriesLimitError(maxSeries);
}

function countPoints(group: EqualRows): number {
  let points = 0;
  for (const { present } of group) for (const is of present) points += is;
  return points;
}

async function cut(
  series: readonly EqualRows[],
  { maxSeries }: MetricLimits,
  isCut: boolean,
  pacer: Pacer,
): Promise<{ readonly kept: readonly EqualRows[]; readonly warnings: readonly string[] }> {
  if (!isCut && (maxSeries === 0 || series.length <= maxSeries)) return { kept: series, warnings: [] };
  const warning = `maximum number of series (${String(maxSeries)}) reached for a single query; returning partial results`;
  return { kept: await busiest(series, maxSeries, pacer), warnings: [warning] };
}

/** The series with the largest sums of values, in their original order. */
async function busiest(
  series: readonly EqualRows[],
  count: number,
  pacer: Pacer,
): Promise<readonly EqualRows[]> {
  const sums = new Map<EqualRows, number>();
  await eachAtPace(series, pacer, (group) => sums.set(group, sumOf(group)));
  const bySum = await atPace(
    sortSteps([...series], (a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0)),
    pacer,
  );
  const kept = new Set(bySum.slice(0, count));
  return series.filter((group) => kept.has(group));
}

/** NaN counts as 0, and infinite values as the largest number, so that sums can be compared. */
function sumOf(group: EqualRows): number {
  let sum = 0;
  for (const { values, present } of group)
    for (const [column, value] of values.entries())
      if (present[column] === 1 && !Number.isNaN(value)) sum += value;
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number.isNaN(sum) ? 0 : sum));
}

/** The points of series with equal labels, which `label_replace` can produce: like Loki, keeps both points at equal times. */
function pointsOf(group: EqualRows, { count, stepMs }: Columns, start: number): readonly Point[] {
  const points: Point[] = [];
  for (let column = 0; column < count; column += 1) {
    for (const { values, present } of group) {
      if (present[column] !== 1) continue;
      points.push({ timestampMs: start + column * stepMs, value: values[column] ?? 0 });
    }
  }
  return points;
}

/** Series printed per step. */
const stepSeries = 1_000;

/**
 * Sorts series as Loki does: by labels. If Loki splits a range into parts, it sorts by the text of the labels, in which a longer set
 * precedes its prefix. It modifies the list.
 * @param splitMs length of the parts, 0 for none; a longer range of the query makes the parts as long
 */
export function* sortSeriesOf<T>(
  series: T[],
  labelsOf: (one: T) => LabelSet,
  expr: MetricExpr,
  columns: Columns,
  splitMs: number,
): Steps<T[]> {
  if (!isSplit(columns, Math.max(splitMs, longestRangeMs(expr)), splitMs > 0))
    return yield* sortSteps(series, (a, b) => compareLabels(labelsOf(a), labelsOf(b)));
  const texts: { readonly one: T; readonly text: string }[] = [];
  for (const one of series) {
    texts.push({ one, text: labelsText(labelsOf(one)) });
    if (texts.length % stepSeries === 0) yield;
  }
  const sorted = yield* sortSteps(texts, (a, b) => textOrder(a.text, b.text));
  return sorted.map(({ one }) => one);
}

/** True when the steps fall into more than one part: a part ends at the step before a multiple of its length. */
function isSplit(columns: Columns, partMs: number, isOn: boolean): boolean {
  const { kind, count, stepMs } = columns;
  if (!isOn || kind === 'instant') return false;
  // The last step belongs to the part before it.
  if (stepMs >= partMs) return count > 2;
  const start = firstMs(columns);
  const end = start + (count - 1) * stepMs;
  const next = (Math.floor(start / partMs) + 1) * partMs;
  const rest = (next - start) % stepMs;
  const last = next - (rest === 0 ? stepMs : rest);
  return last + stepMs < end;
}

function longestRangeMs(expr: MetricExpr): number {
  let longest = 0n;
  visit(expr, (node) => {
    if (node.kind === 'log-range' && node.intervalNanoseconds > longest) longest = node.intervalNanoseconds;
  });
  return Number(longest / 1_000_000n);
}
