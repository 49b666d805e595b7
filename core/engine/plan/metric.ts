import type { LogExpr, MetricExpr, RangeAggregation } from '../../logql/ast.js';
import { planLeaves, type Leaf } from '../../logql/metric/index.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { logsSteps, type PlannedLogs } from './logs.js';
import { matcherSteps } from './matchers.js';
import { columnsFor, visibleNames } from './metric-columns.js';
import { planShortLines, pushLeaf } from './metric-push.js';
import type { LeafPlan, MetricPlan } from './types.js';

/** `-pushdown`: with `off` the backend only selects streams. */
export type Pushdown = 'on' | 'off';

/**
 * Plans a metric query.
 * @throws ApiError `approxTopk`
 */
export function planMetric(expr: MetricExpr, naming: Naming, pushdown: Pushdown = 'on'): MetricPlan {
  return doAll(metricSteps(expr, naming, pushdown));
}

/** The same bit by bit, for queries that are long. */
export function* metricSteps(expr: MetricExpr, naming: Naming, pushdown: Pushdown): Steps<MetricPlan> {
  const leaves = new Map<RangeAggregation, LeafPlan>();
  for (const leaf of planLeaves(expr).values()) {
    leaves.set(leaf.range, yield* leafSteps(leaf, naming, pushdown));
    yield;
  }
  return { kind: 'metric', expr, leaves };
}

function* leafSteps(leaf: Leaf, naming: Naming, pushdown: Pushdown): Steps<LeafPlan> {
  const { range, pushed } = leaf;
  const { query } = range.range;
  const { filter: selection } = yield* matcherSteps(query.selector.matchers, naming);
  const { plan: logs, decisions } = yield* logExprSteps(query, naming, pushdown);
  const decision = pushdown === 'off' ? ({ rule: 'metricOff' } as const) : pushLeaf(leaf, logs);
  return {
    leaf,
    logs,
    selection,
    columns: pushdown === 'off' ? undefined : columnsFor(visibleNames(range, pushed), naming),
    push: 'push' in decision ? decision.push : undefined,
    shortLines: pushdown === 'off' ? undefined : planShortLines(leaf, logs),
    rule: decision.rule,
    decisions,
  };
}

/** Plans a log query, or leaves all of its stages to be evaluated here. */
export function planLogExpr(expr: LogExpr, naming: Naming, pushdown: Pushdown): PlannedLogs {
  return doAll(logExprSteps(expr, naming, pushdown));
}

/** The same bit by bit, for queries that are long. */
export function* logExprSteps(expr: LogExpr, naming: Naming, pushdown: Pushdown): Steps<PlannedLogs> {
  if (pushdown === 'on') return yield* logsSteps(expr, naming);
  const { filter, decisions } = yield* matcherSteps(expr.selector.matchers, naming);
  return {
    plan: { kind: 'logs', filter, residual: expr.stages, recheck: [] },
    decisions: [...decisions, ...expr.stages.map((part) => ({ rule: 'metricOff' as const, part }))],
  };
}
