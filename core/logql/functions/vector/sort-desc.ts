import { descending } from '../../metric/order.js';
import type { VectorFunction } from './descriptor.js';
import { sort } from './sort.js';

export const sortDesc: VectorFunction = { ...sort, evaluation: { kind: 'order', order: descending } };
