import { meanState } from '../../metric/moments.js';
import { byAverage } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const avgOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: meanState,
  join: byAverage,
  shards: 'always',
};
