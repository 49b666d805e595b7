import { LabelSet } from '../../../base/label-set.js';
import type { MetricExpr, RangeAggregation, RangeOp } from '../../ast.js';
import { meanState, deviationState, varianceState } from '../../metric/moments.js';
import {
  countState,
  firstState,
  lastState,
  maxState,
  minState,
  perSecond,
  sumState,
} from '../../metric/states.js';
import { stateWork } from '../../metric/work.js';
import { byAverage, bySum, byMax, byMin } from '../join.js';
import type { RangeFunction } from './descriptor.js';
import { quantileOverTime } from './quantile-over-time.js';
import { rateCounter } from './rate-counter.js';

/** The function that counts lines. */
export const countLines = 'count_over_time';

const linesPerSecond = perSecond(countState);
const valuesPerSecond = perSecond(sumState);

/** All range functions, by their names. */
export const rangeFunctions: Readonly<Record<RangeOp, RangeFunction>> = {
  count_over_time: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: 'count',
    ofValues: undefined,
    work: countState,
    join: bySum,
    shards: 'always',
    listsParts: true,
  },
  /** Per second, of lines or of unwrapped values. */
  rate: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: 'count',
    ofValues: 'total',
    work: (request) =>
      stateWork(request.node.range.unwrap === undefined ? linesPerSecond : valuesPerSecond, request),
    join: bySum,
    shards: 'always',
    perSecondOf: ({ range }) => (range.unwrap === undefined ? 'count_over_time' : 'sum_over_time'),
    unit: 'per-second',
  },
  rate_counter: rateCounter,
  bytes_over_time: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: 'bytes',
    ofValues: undefined,
    work: sumState,
    join: bySum,
    shards: 'always',
    listsParts: true,
  },
  bytes_rate: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: 'bytes',
    ofValues: undefined,
    work: perSecond(sumState),
    join: bySum,
    shards: 'always',
    perSecondOf: () => 'bytes_over_time',
    unit: 'per-second',
  },
  avg_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'total',
    work: meanState,
    join: byAverage,
    shards: 'always',
  },
  sum_over_time: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: undefined,
    ofValues: 'total',
    work: sumState,
    join: bySum,
    shards: 'always',
  },
  min_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'values',
    work: minState,
    join: byMin,
    shards: 'always',
  },
  max_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'values',
    work: maxState,
    join: byMax,
    shards: 'always',
  },
  stdvar_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'total',
    work: varianceState,
    join: undefined,
    shards: 'never',
    unit: 'none',
  },
  stddev_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'total',
    work: deviationState,
    join: undefined,
    shards: 'never',
  },
  quantile_over_time: quantileOverTime,
  first_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'times',
    work: firstState,
    join: undefined,
    shards: 'always',
  },
  last_over_time: {
    parameter: 'refused',
    grouping: 'allowed',
    ofLines: undefined,
    ofValues: 'times',
    work: lastState,
    join: undefined,
    shards: 'always',
  },
  absent_over_time: {
    parameter: 'refused',
    grouping: 'refused',
    ofLines: 'count',
    ofValues: 'values',
    work: countState,
    join: undefined,
    shards: 'never',
    ofNothing: absentLabels,
    unit: 'none',
  },
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

/** True if an expression is a range function that Loki splits into shards even inside an aggregation. */
export function isShardedRange(expr: MetricExpr): boolean {
  return expr.kind === 'range-aggregation' && rangeFunctions[expr.op].shards === 'always';
}
