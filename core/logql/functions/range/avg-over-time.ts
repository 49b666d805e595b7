import { meanState } from '../../metric/moments.js';
import { averageState } from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import { byAverage } from '../join.js';
import type { RangeFunction } from './descriptor.js';

const divided = stateWork(averageState);
const whole = stateWork(meanState);

/** Where Loki divides it the sum over the count, else a running mean. */
export const avgOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: (how) => (how.isDivided ? divided : whole)(how),
  join: byAverage,
  shards: 'always',
};
