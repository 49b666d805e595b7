import { sumState } from '../../metric/states.js';
import { bySum } from '../join.js';
import type { VectorFunction } from './descriptor.js';

export const sum: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: sumState },
  join: bySum,
  timeParts: 'each',
  shardsOver: (expr) => expr.kind !== 'vector-aggregation' || (expr.op !== 'min' && expr.op !== 'max'),
};
