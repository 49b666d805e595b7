import type { Grouping, RangeOp, VectorAggregation } from '../ast.js';

const summable: ReadonlySet<RangeOp> = new Set([
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
  'rate',
  'count_over_time',
] as const);

/**
 * The grouping of a vector aggregation if it can be applied to samples before they are aggregated over time: only for sums, and only over a
 * range aggregation without a grouping of its own. Otherwise undefined.
 */
export function pushedGrouping({
  op,
  grouping,
  expr,
}: VectorAggregation): Pick<Grouping, 'without' | 'labels'> | undefined {
  const canPush =
    op === 'sum' && expr.kind === 'range-aggregation' && expr.grouping === undefined && summable.has(expr.op);
  return canPush ? (grouping ?? { without: false, labels: [] }) : undefined;
}
