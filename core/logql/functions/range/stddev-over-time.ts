import { deviationState } from '../../metric/moments.js';
import type { RangeFunction } from './descriptor.js';

export const stddevOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: deviationState,
  join: undefined,
  shards: 'never',
};
