import type { MetricExpr } from '../../logql/ast.js';
import { mapLeaves, planLeaves, type Leaf } from '../../logql/metric/index.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { logsSteps } from './logs.js';
import { matcherSteps } from './matchers.js';
import { columnsFor, visibleNames } from './metric-columns.js';
import { decideLeaf, planFields, planShortLines } from './metric-push.js';
import type { Pushdown } from './rules/query/off.js';
import type { LeafPlan, MetricPlan } from './types.js';

/**
 * Plans a metric query.
 * @throws ApiError `approxTopk`
 */
export function planMetric(expr: MetricExpr, naming: Naming, pushdown: Pushdown = 'on'): MetricPlan {
  return doAll(metricSteps(expr, naming, pushdown, 0));
}

/**
 * The same bit by bit, for queries that are long.
 * @param splitMs for an instant query, how long the parts are into which Loki divides a range; 0 for others
 */
export function* metricSteps(
  expr: MetricExpr,
  naming: Naming,
  pushdown: Pushdown,
  splitMs: number,
): Steps<MetricPlan> {
  let count = 0;
  const tree = yield* mapLeaves(planLeaves(expr, splitMs).tree, function* plan(leaf): Steps<LeafPlan> {
    const planned = yield* leafSteps(leaf, naming, pushdown);
    yield;
    return { ...leaf, ...planned, index: count++ };
  });
  return { kind: 'metric', expr, tree };
}

function* leafSteps(
  leaf: Leaf,
  naming: Naming,
  pushdown: Pushdown,
): Steps<Omit<LeafPlan, keyof Leaf | 'index'>> {
  const { range, pushed } = leaf;
  const { query } = range.range;
  const { filter: selection } = yield* matcherSteps(query.selector.matchers, naming);
  const { plan: logs, decisions } = yield* logsSteps(query, naming, pushdown);
  const { rule, push } = decideLeaf(leaf, logs, pushdown);
  return {
    logs,
    selection,
    columns: pushdown === 'off' ? undefined : columnsFor(visibleNames(range, pushed), naming),
    push,
    shortLines: pushdown === 'off' ? undefined : planShortLines(leaf, logs),
    fields: pushdown === 'off' ? undefined : planFields(leaf, naming),
    rule,
    decisions,
  };
}
