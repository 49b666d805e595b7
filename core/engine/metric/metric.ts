import type { Caller } from '../../base/caller.js';
import type { Answer } from '../../wire/answer/types.js';
import type { QueryRangeRequest, QueryRequest } from '../../wire/api/request.js';
import { ApiError } from '../../base/errors/api-error.js';
import { errorTable } from '../../base/errors/table.js';
import {
  defaultMetricLimits,
  entryLeafSource,
  evaluateMetric,
  gridOf,
  type Grid,
  type Leaf,
  type LeafSource,
  type MetricLimits,
  type MetricResult,
} from '../../logql/metric/index.js';
import type { LeafPlan, MetricPlan } from '../plan/types.js';
import type { Clock } from '../../base/clock.js';
import { MetricCounts } from './count/counts.js';
import { briefTable } from './brief/brief.js';
import { rowEntrySource, type RowContext } from './rows/rows.js';
import { onceListed } from '../listings/once-listed.js';
import { statisticsTable } from './count/statistics-table.js';

export interface MetricContext extends Omit<RowContext, 'counts' | 'memory'> {
  readonly clock: Clock;
  readonly limits: MetricLimits;
  readonly signal: AbortSignal;
}

/**
 * Answers a metric query: the expression is evaluated here over the series of its leaves, which come from the backend.
 * @throws ApiError for limits, errors of entries and broken vector matching, with Loki's texts
 */
export async function answerMetric(
  plan: MetricPlan,
  request: QueryRangeRequest | QueryRequest,
  context: MetricContext,
): Promise<Answer> {
  const { clock, limits, signal } = context;
  const startedAt = clock.monotonicMs();
  const counts = new MetricCounts();
  const upstream = onceListed(context.upstream);
  const source = backendSource(plan, { ...context, upstream, counts, memory: limits.memory });
  const result = await evaluateMetric(plan.expr, gridFor(request), source, limits, signal);
  return withStats(result, counts, clock.monotonicMs() - startedAt);
}

/** The series of leaves: from statistics where they do, else from rows. */
function backendSource(plan: MetricPlan, context: RowContext): LeafSource {
  const sourceOf = (change: (leaf: LeafPlan) => LeafPlan): LeafSource =>
    entryLeafSource(
      rowEntrySource((leaf) => change(planOf(plan, leaf)), context),
      context.workers,
    );
  const fromRows = sourceOf((leaf) => leaf);
  const fromWholeRows = sourceOf((leaf) => ({ ...leaf, columns: undefined }));
  return {
    async series(request) {
      const leafPlan = planOf(plan, request.leaf);
      const { push, columns } = leafPlan;
      try {
        const counted =
          push === undefined ? undefined : await statisticsTable({ ...leafPlan, push }, request, context);
        if (counted !== undefined) return counted;
        const brief = leafPlan.brief === undefined ? undefined : await briefTable(leafPlan, request, context);
        if (brief !== undefined) return brief;
      } catch (error) {
        // The message names the entry that failed first, which groups do not tell.
        if (!isPipelineError(error)) throw error;
      }
      try {
        return await fromRows.series(request);
      } catch (error) {
        // The message names all labels of the entry that failed, whatever the query sees of them.
        if (columns === undefined || !isPipelineError(error)) throw error;
        return fromWholeRows.series(request);
      }
    },
  };
}

function isPipelineError(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.pipelineError;
}

/** The grid on which a request wants its answer. */
export function gridFor(request: QueryRangeRequest | QueryRequest): Grid {
  return request.op === 'query'
    ? { kind: 'instant', timeNs: request.timeNs }
    : gridOf(request.range, request.stepNs);
}

/** What a request is held to; the series of a part of a query are not counted, those of the whole are. */
export function metricLimits(
  { isPart = false }: QueryRangeRequest | QueryRequest,
  { isDrilldown }: Pick<Caller, 'isDrilldown'>,
  maxSeries: number,
): MetricLimits {
  return { ...defaultMetricLimits, maxSeries: isPart ? 0 : maxSeries, isPartial: isDrilldown };
}

function planOf({ leaves }: MetricPlan, { range }: Leaf): LeafPlan {
  const plan = leaves.get(range);
  if (plan === undefined) throw new Error('a leaf that was not planned');
  return plan;
}

function withStats(result: MetricResult, counts: MetricCounts, execTimeMs: number): Answer {
  switch (result.kind) {
    case 'matrix':
      return { ...result, stats: counts.stats(execTimeMs, result.series.length) };
    case 'vector':
      return { ...result, stats: counts.stats(execTimeMs, result.samples.length) };
    case 'scalar':
      return { ...result, stats: counts.stats(execTimeMs, 0) };
  }
}
