import { minState } from '../../metric/states.js';
import { byMin } from '../join.js';
import { isShardedRange } from '../range/index.js';
import type { VectorFunction } from './descriptor.js';

export const min: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: minState },
  join: byMin,
  timeParts: 'each',
  shardsOver: isShardedRange,
};
