import { varianceState } from '../../metric/moments.js';
import { stateWork } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const stdvarOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: stateWork(varianceState),
  join: undefined,
  shards: 'never',
};
