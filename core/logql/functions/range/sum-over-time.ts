import { sumState } from '../../metric/states.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const sumOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: undefined,
  ofValues: 'total',
  work: sumState,
  join: bySum,
  shards: 'always',
};
