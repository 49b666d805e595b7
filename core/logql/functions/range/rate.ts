import { countState, perSecond, sumState } from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import { bySum } from '../join.js';
import type { RangeFunction } from './descriptor.js';

const ofLines = stateWork(perSecond(countState));
const ofValues = stateWork(perSecond(sumState));

/** Of lines or of unwrapped values. */
export const rate: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: 'sum',
  work: (how) => (how.node.range.unwrap === undefined ? ofLines : ofValues)(how),
  join: bySum,
  shards: 'always',
  perSecondOf: ({ range }) => (range.unwrap === undefined ? 'count_over_time' : 'sum_over_time'),
};
