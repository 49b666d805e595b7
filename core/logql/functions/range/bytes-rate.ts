import { perSecond, sumState } from '../../metric/states.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

export const bytesRate: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'bytes',
  ofValues: undefined,
  work: perSecond(sumState),
  join: bySum,
  shards: 'always',
  perSecondOf: () => 'bytes_over_time',
};
