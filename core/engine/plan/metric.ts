import type { MetricExpr } from '../../logql/ast.js';
import { mapLeaves, planLeaves, type Leaf, type MetricSettings } from '../../logql/metric/index.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { logsSteps } from './logs.js';
import { matcherSteps } from './matchers.js';
import { columnsFor, visibleNames } from './metric-columns.js';
import { decideLeaf, planFields, planShortLines } from './metric-push.js';
import type { Pushdown } from './rules/query.js';
import type { LeafPlan, MetricPlan } from './types.js';

/**
 * Plans a metric query.
 * @throws ApiError `approxTopk`, `approxTopkRange`
 */
export function planMetric(
  expr: MetricExpr,
  naming: Naming,
  pushdown: Pushdown = 'on',
  settings?: MetricSettings,
): MetricPlan {
  return doAll(metricSteps(expr, naming, pushdown, settings));
}

/** The same bit by bit, for queries that are long. */
export function* metricSteps(
  expr: MetricExpr,
  naming: Naming,
  pushdown: Pushdown,
  settings?: MetricSettings,
): Steps<MetricPlan> {
  let count = 0;
  const tree = yield* mapLeaves(planLeaves(expr, settings).tree, function* plan(leaf): Steps<LeafPlan> {
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
  const { range } = leaf;
  const { query } = range.range;
  const { filter: selection } = yield* matcherSteps(query.selector.matchers, naming);
  const { plan: logs, decisions } = yield* logsSteps(query, naming, pushdown);
  const { rule, push } = decideLeaf(leaf, logs, pushdown);
  return {
    logs,
    selection,
    columns: pushdown === 'off' ? undefined : columnsFor(visibleNames(leaf), naming),
    push,
    shortLines: pushdown === 'off' ? undefined : planShortLines(leaf, logs),
    fields: pushdown === 'off' ? undefined : planFields(leaf, naming),
    rule,
    decisions,
  };
}
