import { maxState } from '../../metric/states.js';
import { byMax } from '../join.js';
import { isShardedRange } from '../range/index.js';
import type { VectorFunction } from './descriptor.js';

export const max: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: maxState },
  join: byMax,
  timeParts: 'each',
  shardsOver: isShardedRange,
};
