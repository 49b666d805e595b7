import { groupMeanState } from '../../metric/moments.js';
import { byAverage } from '../join.js';
import type { VectorFunction } from './descriptor.js';

export const avg: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupMeanState },
  join: byAverage,
  timeParts: 'each',
  shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
};
