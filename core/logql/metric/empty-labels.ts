import type { LabelFilter, RangeAggregation, RangeOp } from '../ast.js';
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
  'avg_over_time',
]);

/**
 * Whether the series of a leaf keep labels with empty values. Loki keeps them, but loses them where it splits a query into shards and
 * merges these by an aggregation without labels, or an average by a division.
 */
export function keepsEmptyLabels({ range, pushed }: Leaf): boolean {
  if (pushed !== undefined) return !pushed.without;
  const { op, grouping } = range;
  if (!mergedOps.has(op)) return true;
  if (op === 'avg_over_time' && testsForErrors(range)) return true;
  if (grouping === undefined || (grouping.without && grouping.labels.length === 0))
    return !reducesLabels(range);
  return !grouping.without && op !== 'avg_over_time';
}

/** Whether stages can make different label sets equal. */
function reducesLabels({ range }: RangeAggregation): boolean {
  return range.query.stages.some((stage) => {
    if (stage.kind === 'label-format') return stage.assignments.some(({ kind }) => kind === 'rename');
    return stage.kind === 'drop' || stage.kind === 'keep';
  });
}

/** Whether a filter after `unwrap` tests the error: Loki does not divide such an average. */
function testsForErrors({ range }: RangeAggregation): boolean {
  return range.unwrap?.filters.some(({ filter }) => namesError(filter)) ?? false;
}

function namesError(filter: LabelFilter): boolean {
  if ('left' in filter) return namesError(filter.left) || namesError(filter.right);
  return filter.name === '__error__';
}
