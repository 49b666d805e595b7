import { ascending } from '../../metric/order.js';
import type { VectorFunction } from './descriptor.js';

export const bottomk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: ascending },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
};
