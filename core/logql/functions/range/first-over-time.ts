import { firstState } from '../../metric/states.js';
import type { RangeFunction } from './descriptor.js';

export const firstOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: firstState,
  join: undefined,
  shards: 'always',
};
