import { maxState } from '../../metric/states.js';
import { byMax } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const maxOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'values',
  work: maxState,
  join: byMax,
  shards: 'always',
};
