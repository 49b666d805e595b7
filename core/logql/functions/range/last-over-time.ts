import { lastState } from '../../metric/states.js';
import type { RangeFunction } from './descriptor.js';

export const lastOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: lastState,
  join: undefined,
  shards: 'always',
};
