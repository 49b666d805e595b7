import { descending } from '../../metric/order.js';
import type { VectorFunction } from './descriptor.js';

export const approxTopk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: descending },
  join: undefined,
  timeParts: undefined,
  shardsOver: () => true,
  groupingFault: () => 'grouping not allowed for approx_topk aggregation',
  isSketched: true,
};
