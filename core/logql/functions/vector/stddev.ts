import { groupDeviationState } from '../../metric/moments.js';
import type { VectorFunction } from './descriptor.js';

export const stddev: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupDeviationState },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
};
