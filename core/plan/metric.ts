import type { MetricExpr, RangeAggregation } from '../logql/ast.js';
import { planLeaves, type Leaf } from '../logql/metric/index.js';
import type { FieldRef, LogsqlFilter } from '../logsql/ast.js';
import type { Naming } from '../names/naming.js';
import { planLogs } from './logs.js';
import { planMatchers } from './matchers.js';
import { columnsFor, visibleNames } from './metric-columns.js';
import type { LogsPlan } from './types.js';

/** How one range aggregation of a metric query is read from the backend. */
export interface LeafPlan {
  readonly leaf: Leaf;
  /** The rows it reads; the stages run on them once more, whatever the backend has done. */
  readonly logs: LogsPlan;
  /** The rows of its streams, without any filter on lines: what counts cheaply and includes all of `logs`. */
  readonly selection: LogsqlFilter;
  /** The columns it sees; undefined when it sees all. Rows without a stored line need all in any case. */
  readonly columns: readonly FieldRef[] | undefined;
}

/** A metric expression, and how its parts that read logs are read; with no such parts it is the same at every instant. */
export interface MetricPlan {
  readonly kind: 'metric';
  readonly expr: MetricExpr;
  /** By the range aggregation of the leaf. */
  readonly leaves: ReadonlyMap<RangeAggregation, LeafPlan>;
}

/**
 * Plans a metric query.
 * @throws ApiError `approxTopk`
 */
export function planMetric(expr: MetricExpr, naming: Naming): MetricPlan {
  const leaves = new Map<RangeAggregation, LeafPlan>();
  for (const leaf of planLeaves(expr).values()) leaves.set(leaf.range, planLeaf(leaf, naming));
  return { kind: 'metric', expr, leaves };
}

function planLeaf(leaf: Leaf, naming: Naming): LeafPlan {
  const { range, pushed } = leaf;
  const { query } = range.range;
  return {
    leaf,
    logs: planLogs(query, naming).plan,
    selection: planMatchers(query.selector.matchers, naming).filter,
    columns: columnsFor(visibleNames(range, pushed), naming),
  };
}
