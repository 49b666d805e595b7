import { descending } from '../../metric/order.js';
import type { VectorFunction } from './descriptor.js';

export const topk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: descending },
  join: undefined,
  timeParts: 'all',
  shardsOver: undefined,
};
