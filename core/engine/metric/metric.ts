import type { Caller } from '../../base/caller.js';
import {
  binaryLimits,
  defaultMetricLimits,
  evaluatePlanned,
  gridFor,
  type LeafSource,
  type MetricLimits,
  type MetricResult,
} from '../../logql/metric/index.js';
import type { Answer, MatrixAnswer, ScalarAnswer, VectorAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest, QueryRequest } from '../../wire/api/request.js';
import type { EngineContext } from '../context.js';
import { onceListed } from '../listings/upstreams.js';
import type { LeafPlan, MetricPlan } from '../plan/types.js';
import type { LeafContext, MetricContext } from './context.js';
import { memoizedProfiles } from './count/profile.js';
import { LineSamples } from './count/line-digests.js';
import { Declines, MetricCounts } from './cost.js';
import { readLeaf } from './strategies.js';

type MetricAnswer = MatrixAnswer | VectorAnswer | ScalarAnswer;
type MetricRequest = QueryRangeRequest | QueryRequest;

export function executeMetric(
  plan: MetricPlan,
  request: MetricRequest,
  context: EngineContext,
): Promise<Answer> {
  return answerMetric(plan, request, metricContext(request, context));
}

/** Dependencies of the metric queries of one exchange. */
export function metricContext(request: MetricRequest, context: EngineContext): MetricContext {
  const { tenant, caller, limits, meters, trace, memories } = context;
  const maxSeries = limits.of(tenant.limitIds ?? [tenant.id]).maxQuerySeries;
  return {
    ...context,
    ...memories,
    maxRows: limits.process.manualRangeMetricRowLimit,
    limits: {
      ...metricLimits(request, caller, maxSeries),
      binary: binaryLimits(limits.process),
      memory: context.memory,
    },
    tried: (record) => {
      trace.strategies.push(record);
      meters.metric_strategies_total.add(1, { strategy: record.strategy, outcome: record.outcome });
    },
  };
}

/**
 * Answers a metric query: evaluates the expression here, over the series of its leaves, which come from the backend.
 * @throws ApiError for limits, errors of entries and invalid vector matching, with Loki's texts
 */
export async function answerMetric(
  plan: MetricPlan,
  request: MetricRequest,
  context: MetricContext,
): Promise<Answer> {
  const { clock, limits, signal } = context;
  const startedAt = clock.monotonicMs();
  const shared = leafContext(context);
  const source: LeafSource<LeafPlan> = { series: (asked) => readLeaf(asked, shared) };
  const result = await evaluatePlanned(plan, gridFor(request), source, limits, signal);
  const answer = withStats(result, shared.counts, clock.monotonicMs() - startedAt);
  const warnings = context.assumptions?.warnings ?? [];
  return warnings.length === 0
    ? answer
    : { ...answer, warnings: [...answer.warnings, ...warnings], isProvisional: true };
}

/** The state of a request that its leaves share. */
export function leafContext(context: MetricContext): LeafContext {
  return {
    ...context,
    upstream: onceListed(context.upstream),
    profiler: memoizedProfiles(context.profiler),
    counts: new MetricCounts(),
    samples: new LineSamples(),
    declines: new Declines(context.refusals, context.upstream.owner),
  };
}

/** The limits of a request. The series of a part of a larger query are not limited, those of the whole query are. */
export function metricLimits(
  { isPart = false }: MetricRequest,
  { isDrilldown }: Pick<Caller, 'isDrilldown'>,
  maxSeries: number,
): MetricLimits {
  return { ...defaultMetricLimits, maxSeries: isPart ? 0 : maxSeries, isPartial: isDrilldown };
}

function withStats(result: MetricResult, counts: MetricCounts, execTimeMs: number): MetricAnswer {
  const { length } =
    result.kind === 'matrix' ? result.series : result.kind === 'vector' ? result.samples : [];
  return { ...result, stats: counts.stats(execTimeMs, length) };
}
