import { sumState } from '../../metric/states.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const bytesOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'bytes',
  ofValues: undefined,
  work: sumState,
  join: bySum,
  shards: 'always',
  listsParts: true,
};
