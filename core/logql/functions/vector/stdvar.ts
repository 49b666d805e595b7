import { groupVarianceState } from '../../metric/moments.js';
import type { VectorFunction } from './descriptor.js';

export const stdvar: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupVarianceState },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
};
