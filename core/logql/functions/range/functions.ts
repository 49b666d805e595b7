import { LabelSet } from '../../../base/label-set.js';
import {
  countState,
  firstState,
  lastState,
  maxState,
  minState,
  perSecond,
  sumState,
} from '../../metric/states.js';
import type { RangeAggregation } from '../../ast.js';
import { meanState, deviationState, varianceState } from '../../metric/moments.js';
import { byAverage, bySum, byMax, byMin } from '../join.js';
import { stateWork } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const absentOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: 'values',
  work: countState,
  join: undefined,
  shards: 'never',
  ofNothing: absentLabels,
  unit: 'none',
};

/** The labels that the selector determines: those with an equality matcher and no other. */
function absentLabels({ range }: RangeAggregation): LabelSet {
  const values = new Map<string, string>();
  const unclear = new Set<string>();
  for (const { name, op, value } of range.query.selector.matchers) {
    if (op === '=' && !values.has(name)) values.set(name, value);
    else unclear.add(name);
  }
  return LabelSet.from([...values].filter(([name, value]) => value !== '' && !unclear.has(name)));
}

export const avgOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'total',
  work: meanState,
  join: byAverage,
  shards: 'always',
};

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

export const bytesRate: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'bytes',
  ofValues: undefined,
  work: perSecond(sumState),
  join: bySum,
  shards: 'always',
  perSecondOf: () => 'bytes_over_time',
  unit: 'per-second',
};

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

export const firstOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: firstState,
  join: undefined,
  shards: 'always',
};

export const lastOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'times',
  work: lastState,
  join: undefined,
  shards: 'always',
};

export const maxOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'values',
  work: maxState,
  join: byMax,
  shards: 'always',
};

export const minOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'values',
  work: minState,
  join: byMin,
  shards: 'always',
};

const ofLines = perSecond(countState);
const ofValues = perSecond(sumState);

/** `rate` of lines or of unwrapped values. */
export const rate: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: 'total',
  work: (request) => stateWork(request.node.range.unwrap === undefined ? ofLines : ofValues, request),
  join: bySum,
  shards: 'always',
  perSecondOf: ({ range }) => (range.unwrap === undefined ? 'count_over_time' : 'sum_over_time'),
  unit: 'per-second',
};

export const stddevOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'total',
  work: deviationState,
  join: undefined,
  shards: 'never',
};

export const stdvarOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'total',
  work: varianceState,
  join: undefined,
  shards: 'never',
  unit: 'none',
};

export const sumOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: undefined,
  ofValues: 'total',
  work: sumState,
  join: bySum,
  shards: 'always',
};
