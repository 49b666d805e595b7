/**
 * Range functions whose values over a window are merged from those of its parts, for windows over the border. The windows of all columns
 * have the border inside, so their parts are nested: each begins with a part of old data that is one step shorter than that of the window
 * before, and ends with a part of new data that is one step longer. Both sides are asked for the differences, each a step long, with one
 * range query, and for the part nearest to the border with one instant query.
 */
import { ofKey } from '../../core/base/memory/byte-lru.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import type { Join } from '../../core/logql/functions/join.js';
import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import type { RangeAggregation, RangeOp } from '../../core/logql/index.js';
import { emptyRow, type Columns, type Leaf, type SeriesRow } from '../../core/logql/metric/index.js';
import { leafExpr, rowsOfAnswer } from '../../core/operations/metric-parts.js';
import type { QueryRangeRequest, QueryRequest } from '../../core/wire/api/request.js';
import { leftOf, part, columnTime, type Side } from './border.js';
import type { Sides } from './sides.js';

export type MetricRequest = QueryRangeRequest | QueryRequest;

const msNs = 1_000_000n;

/** A range function as a sum, minimum or maximum of parts. */
export interface PartedLeaf {
  readonly leaf: Leaf;
  readonly join: Join;
  /** Seconds by which sums are divided; 1 for none. */
  readonly seconds: number;
}

/** A leaf whose windows can be merged from parts; undefined for others. */
export function partedLeaf(leaf: Leaf): PartedLeaf | undefined {
  const { range, pushed } = leaf;
  const { join, perSecondOf } = rangeFunctions[range.op];
  if (join === undefined || join.kind === 'divided') return undefined;
  // A sum over series of maxima is not the maximum of such sums.
  if (pushed !== undefined && join.kind !== 'added') return undefined;
  const { intervalNanoseconds, offsetNanoseconds } = range.range;
  if (intervalNanoseconds % msNs !== 0n || offsetNanoseconds % msNs !== 0n) return undefined;
  const op: RangeOp = perSecondOf?.(range) ?? range.op;
  const seconds = perSecondOf === undefined ? 1 : Number(intervalNanoseconds / msNs) / 1000;
  return { leaf: { ...leaf, range: { ...range, op } }, join, seconds };
}

/** The times of the parts of windows over the border. */
interface Cut {
  /** The end of the old part of the last window, up to less than a millisecond before the border. */
  readonly oldEndNs: bigint;
  /** Its length; 0 for none. */
  readonly oldNs: bigint;
  /** The length of the new part of the first window, up to less than a millisecond after the border; 0 for none. */
  readonly newNs: bigint;
  /** The time between both parts, [startNs, endNs), which is in all windows. */
  readonly rest: { readonly startNs: bigint; readonly endNs: bigint };
}

/** Ranges have whole milliseconds, and the border is between two nanoseconds. */
export function cutAt(untilNs: bigint, { range }: RangeAggregation, columns: Columns): Cut {
  const left = leftOf(columnTime(columns, columns.count - 1), range);
  const right = columnTime(columns, 0) - range.offsetNanoseconds;
  const lastOldNs = untilNs - 1n;
  const oldNs = floored(lastOldNs - left);
  const newNs = floored(right - lastOldNs);
  return {
    oldEndNs: left + oldNs,
    oldNs,
    newNs,
    rest: { startNs: left + oldNs + 1n, endNs: right - newNs + 1n },
  };
}

function floored(ns: bigint): bigint {
  return ns - (ns % msNs);
}

/**
 * The series over windows that have the border inside.
 * @param between the values of what is between the parts, by the same columns
 */
export async function rowsOfParts(
  { leaf, join, seconds }: PartedLeaf,
  columns: Columns,
  untilNs: bigint,
  request: MetricRequest,
  sides: Sides,
  between: readonly SeriesRow[],
  signal: AbortSignal,
): Promise<readonly SeriesRow[]> {
  const { offsetNanoseconds, intervalNanoseconds } = leaf.range.range;
  const { oldEndNs, oldNs, newNs } = cutAt(untilNs, leaf.range, columns);
  const stepNs = BigInt(columns.stepMs) * msNs;
  const later = part(columns, 1, columns.count - 1);
  const ask = async (side: Side, asked: MetricRequest, at: Columns): Promise<readonly SeriesRow[]> =>
    rowsOfAnswer(await sides.ask({ side, request: asked }, signal), at, new Pacer(signal));
  const steps = (side: Side, offsetNs: bigint): Promise<readonly SeriesRow[]> => {
    if (later.count === 0) return Promise.resolve([]);
    const range = { startNs: later.firstNs, endNs: columnTime(later, later.count - 1) };
    const query = request.query.withAst(leafExpr(over(leaf, stepNs, offsetNs)));
    return ask(side, rangeOf(request, query, range, stepNs), later);
  };
  const instant = (side: Side, timeNs: bigint, lengthNs: bigint): Promise<readonly SeriesRow[]> => {
    if (lengthNs === 0n) return Promise.resolve([]);
    const query = request.query.withAst(leafExpr(over(leaf, lengthNs, 0n)));
    const { limit, direction } = request;
    const asked = { op: 'query', query, timeNs, limit, direction, isPart: true } as const;
    return ask(side, asked, { kind: 'instant', count: 1, firstNs: timeNs, stepMs: 0 });
  };
  const parts = await Promise.all([
    steps('old', offsetNanoseconds + intervalNanoseconds),
    instant('old', oldEndNs, oldNs),
    instant('new', columnTime(columns, 0) - offsetNanoseconds, newNs),
    steps('new', offsetNanoseconds),
  ]);
  return summed(parts, between, { join, seconds, count: columns.count, pacer: new Pacer(signal) });
}

function over(leaf: Leaf, intervalNanoseconds: bigint, offsetNanoseconds: bigint): Leaf {
  const range = { ...leaf.range.range, intervalNanoseconds, offsetNanoseconds };
  return { ...leaf, range: { ...leaf.range, range } };
}

/** A range query for a part of another request. */
export function rangeOf(
  request: MetricRequest,
  query: QueryRangeRequest['query'],
  range: QueryRangeRequest['range'],
  stepNs: bigint,
): QueryRangeRequest {
  const { limit, direction } = request;
  return { op: 'query_range', query, range, stepNs, limit, direction, intervalNs: 0n, isPart: true };
}

interface Summing {
  readonly join: Join;
  readonly seconds: number;
  readonly count: number;
  readonly pacer: Pacer;
}

/** Merges the parts of each window: old steps from its left end on, the parts at the border, new steps up to its right end. */
async function summed(
  [oldSteps, oldLast, newFirst, newSteps]: readonly [
    readonly SeriesRow[],
    readonly SeriesRow[],
    readonly SeriesRow[],
    readonly SeriesRow[],
  ],
  between: readonly SeriesRow[],
  { join, seconds, count, pacer }: Summing,
): Promise<readonly SeriesRow[]> {
  const byKey = new Map<string, SeriesRow>();
  const add = (row: SeriesRow, column: number, value: number): void => {
    const sum = ofKey(byKey, row.labels.key, () => emptyRow(row.labels, count));
    sum.values[column] = sum.present[column] === 1 ? joined(sum.values[column] ?? NaN, value) : value;
    sum.present[column] = 1;
  };
  const joined = (a: number, b: number): number => join.combine(a, b) ?? NaN;
  /** Adds to each window the values of all steps from the border to the step beside it, which come in this order. */
  const addSteps = (row: SeriesRow, steps: readonly number[], columnOf: (step: number) => number): void => {
    let sum: number | undefined;
    for (const step of steps) {
      const value = row.values[step] ?? NaN;
      if (row.present[step] === 1) sum = sum === undefined ? value : joined(sum, value);
      if (sum !== undefined) add(row, columnOf(step), sum);
    }
  };
  // Step i lies between the left ends, or the right ends, of windows i and i + 1.
  const forward = Array.from({ length: count - 1 }, (_none, step) => step);
  const backward = [...forward].reverse();
  await eachAtPace(oldSteps, pacer, (row) => addSteps(row, backward, (step) => step));
  for (const rows of [oldLast, newFirst])
    await eachAtPace(rows, pacer, (row) => {
      if (row.present[0] !== 1) return;
      for (let column = 0; column < count; column += 1) add(row, column, row.values[0] ?? NaN);
    });
  await eachAtPace(between, pacer, (row) => {
    for (const [column, isPresent] of row.present.entries())
      if (isPresent === 1) add(row, column, row.values[column] ?? NaN);
  });
  await eachAtPace(newSteps, pacer, (row) => addSteps(row, forward, (step) => step + 1));
  const all = [...byKey.values()];
  if (seconds !== 1) await eachAtPace(all, pacer, ({ values }) => divide(values, seconds));
  return all;
}

function divide(values: Float64Array, by: number): void {
  for (const [index, value] of values.entries()) values[index] = value / by;
}
