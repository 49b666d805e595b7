import type { RangeOp } from '../ast.js';
import { isDividedAverage, keepsAll, reducesLabels } from './shards.js';
import type { Leaf } from './types.js';

/** Functions whose shards Loki merges by another aggregation. */
const mergedOps: ReadonlySet<RangeOp> = new Set([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
  'max_over_time',
  'min_over_time',
]);

/**
 * Whether the series of a leaf keep labels with empty values. Loki keeps them, but loses them where it splits a query into shards and
 * merges these by an aggregation without labels, or an average by a division.
 */
export function keepsEmptyLabels({ range, pushed }: Leaf): boolean {
  if (pushed !== undefined) return !pushed.without;
  const { op, grouping } = range;
  if (op === 'avg_over_time') return !isDividedAverage(range);
  if (!mergedOps.has(op)) return true;
  if (grouping === undefined || keepsAll(grouping)) return !reducesLabels(range);
  return !grouping.without;
}
