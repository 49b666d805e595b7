import { inParallel } from '../../core/base/pace/in-parallel.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { MetricExpr } from '../../core/logql/index.js';
import {
  evaluateMetric,
  firstMs,
  gridColumns,
  gridFor,
  type Columns,
  type Grid,
  type MetricLimits,
} from '../../core/logql/metric/index.js';
import { seriesLimitError, sortSeriesOf } from '../../core/logql/metric/result.js';
import { mergeMatrix } from '../../core/wire/answer/merge/index.js';
import { noStats } from '../../core/wire/answer/merge/shared.js';
import type { Answer, MatrixAnswer } from '../../core/wire/answer/types.js';
import { rangesOf, runsOf, columnTime, type OldTimes, type Place, type Run } from './border.js';
import { BorderLeaves, type BorderDeps } from './leaves.js';
import type { MetricRequest } from './window-parts.js';

/** A metric query, divided by the location of the data that its steps read. */
export interface DividedMetric {
  readonly expr: MetricExpr;
  readonly columns: Columns;
  readonly runs: readonly Run[];
}

export function dividedMetric(request: MetricRequest, expr: MetricExpr, times: OldTimes): DividedMetric {
  const columns = gridColumns(gridFor(request));
  const ranges = rangesOf(expr);
  // A query without logs has the same value everywhere.
  if (ranges.length === 0) return { expr, columns, runs: [{ place: 'new', from: 0, columns }] };
  return { expr, columns, runs: runsOf(columns, ranges, times) };
}

/** The location of all data that a metric query reads. */
export function placeOfAll({ runs }: DividedMetric): Place {
  const [first] = runs;
  return runs.length === 1 && first !== undefined ? first.place : 'both';
}

/**
 * Answers a metric query, each step by the side that has its data. Steps with data of both are evaluated here.
 * @param onOldError replaces the steps that need the old Loki, or throws
 */
export async function answerDivided(
  { expr, columns, runs }: DividedMetric,
  request: MetricRequest,
  deps: BorderDeps,
  limits: MetricLimits,
  onOldError: (error: unknown) => Answer,
): Promise<Answer> {
  const { signal } = deps.sides;
  const answers = await inParallel(
    runs,
    runs.length,
    (run, ends) => {
      const answering = answerRun(run, expr, request, deps, limits, ends);
      return run.place === 'new' ? answering : answering.catch(onOldError);
    },
    signal,
  );
  const [first] = answers;
  if (first === undefined || answers.length === 1 || columns.kind === 'instant') return first ?? emptyMatrix;
  return joined(answers, expr, columns, limits, signal);
}

const emptyMatrix: MatrixAnswer = { kind: 'matrix', series: [], stats: noStats, warnings: [] };

async function answerRun(
  { place, columns }: Run,
  expr: MetricExpr,
  request: MetricRequest,
  deps: BorderDeps,
  limits: MetricLimits,
  signal: AbortSignal,
): Promise<Answer> {
  if (place === 'both') {
    const source = new BorderLeaves(request, deps);
    return {
      ...(await evaluateMetric(expr, gridOfColumns(columns), source, limits, signal)),
      stats: noStats,
    };
  }
  if (request.op === 'query') return deps.sides.ask({ side: place, request }, signal);
  const range = { startNs: columns.firstNs, endNs: columnTime(columns, columns.count - 1) };
  const stepNs = BigInt(columns.stepMs) * 1_000_000n;
  return deps.sides.ask({ side: place, request: { ...request, range, stepNs } }, signal);
}

function gridOfColumns(columns: Columns): Grid {
  if (columns.kind === 'instant') return { kind: 'instant', timeNs: columns.firstNs };
  const { count, stepMs } = columns;
  const startMs = firstMs(columns);
  return { kind: 'range', startMs, endMs: startMs + (count - 1) * stepMs, stepMs };
}

/** The series of answers to adjacent steps as one answer. */
async function joined(
  answers: readonly Answer[],
  expr: MetricExpr,
  columns: Columns,
  { maxSeries, isPartial, splitMs }: MetricLimits,
  signal: AbortSignal,
): Promise<MatrixAnswer> {
  const pacer = new Pacer(signal);
  const parts = answers.map((answer) => {
    if (answer.kind !== 'matrix')
      throw new Error(`a range of a metric query was answered with ${answer.kind}`);
    return answer;
  });
  const merged = await atPace(mergeMatrix(parts), pacer);
  if (maxSeries > 0 && merged.series.length > maxSeries && !isPartial) throw seriesLimitError(maxSeries);
  const series = await atPace(
    sortSeriesOf([...merged.series], ({ labels }) => labels, expr, columns, splitMs),
    pacer,
  );
  return { ...merged, series, stats: { ...merged.stats, entriesReturned: series.length } };
}
