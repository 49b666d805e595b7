import { lastState } from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const lastOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: stateWork(lastState),
  join: undefined,
  shards: 'always',
};
