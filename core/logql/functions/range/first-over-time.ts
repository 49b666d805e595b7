import { firstState } from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const firstOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: stateWork(firstState),
  join: undefined,
  shards: 'always',
};
