import { countState } from '../../metric/states.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

/** The function that counts lines. */
export const countLines = 'count_over_time';

export const countOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: undefined,
  work: countState,
  join: bySum,
  shards: 'always',
  listsParts: true,
};
