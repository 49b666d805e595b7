import { minState } from '../../metric/states.js';
import { byMin } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const minOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'values',
  work: minState,
  join: byMin,
  shards: 'always',
};
