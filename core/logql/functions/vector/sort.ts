import type { Grouping } from '../../ast.js';
import { ascending } from '../../metric/order.js';
import type { VectorFunction } from './descriptor.js';

export const sort: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'order', order: ascending },
  join: undefined,
  timeParts: 'all',
  shardsOver: undefined,
  groupingFault: sortFault,
};

/** Grouping by nothing is allowed. */
function sortFault({ labels }: Grouping): string | undefined {
  return labels.length > 0 ? "sort and sort_desc doesn't allow grouping by " : undefined;
}
