import type { LabelFilter, RangeAggregation, RangeOp } from '../ast.js';
import type { Leaf } from './types.js';

/** Functions whose parts Loki puts together again by an aggregation of its own. */
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
 * Whether the series of a leaf keep labels that have no value. Loki's do, but where it divides a query among shards and puts the
 * parts together by an aggregation without labels, or an average by a division, they get lost.
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

/** Whether stages make label sets alike that were not. */
function reducesLabels({ range }: RangeAggregation): boolean {
  return range.query.stages.some((stage) => {
    if (stage.kind === 'label-format') return stage.assignments.some(({ kind }) => kind === 'rename');
    return stage.kind === 'drop' || stage.kind === 'keep';
  });
}

/** Whether a filter behind `unwrap` looks at the error: such an average is not divided. */
function testsForErrors({ range }: RangeAggregation): boolean {
  return range.unwrap?.filters.some(({ filter }) => namesError(filter)) ?? false;
}

function namesError(filter: LabelFilter): boolean {
  if ('left' in filter) return namesError(filter.left) || namesError(filter.right);
  return filter.name === '__error__';
}
