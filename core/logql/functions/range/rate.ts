import { countState, perSecond, sumState } from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

const ofLines = perSecond(countState);
const ofValues = perSecond(sumState);

/** Of lines or of unwrapped values. */
export const rate: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: 'total',
  work: (request) => stateWork(request.node.range.unwrap === undefined ? ofLines : ofValues, request),
  join: bySum,
  shards: 'always',
  perSecondOf: ({ range }) => (range.unwrap === undefined ? 'count_over_time' : 'sum_over_time'),
};
