import { countState } from '../../metric/states.js';
import type { VectorFunction } from './descriptor.js';

export const count: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: countState },
  join: undefined,
  timeParts: 'all',
  shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
};
