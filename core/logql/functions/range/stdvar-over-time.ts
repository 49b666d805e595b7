import { varianceState } from '../../metric/moments.js';
import type { RangeFunction } from './descriptor.js';

export const stdvarOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: varianceState,
  join: undefined,
  shards: 'never',
};
