import type { MetricExpr, RangeOp } from '../../ast.js';
import {
  absentOverTime,
  avgOverTime,
  bytesOverTime,
  bytesRate,
  countOverTime,
  firstOverTime,
  lastOverTime,
  maxOverTime,
  minOverTime,
  rate,
  stddevOverTime,
  stdvarOverTime,
  sumOverTime,
} from './functions.js';
import type { RangeFunction } from './descriptor.js';
import { quantileOverTime } from './quantile-over-time.js';
import { rateCounter } from './rate-counter.js';

/** All range functions, by their names. */
export const rangeFunctions: Readonly<Record<RangeOp, RangeFunction>> = {
  count_over_time: countOverTime,
  rate,
  rate_counter: rateCounter,
  bytes_over_time: bytesOverTime,
  bytes_rate: bytesRate,
  avg_over_time: avgOverTime,
  sum_over_time: sumOverTime,
  min_over_time: minOverTime,
  max_over_time: maxOverTime,
  stdvar_over_time: stdvarOverTime,
  stddev_over_time: stddevOverTime,
  quantile_over_time: quantileOverTime,
  first_over_time: firstOverTime,
  last_over_time: lastOverTime,
  absent_over_time: absentOverTime,
};

/** True if an expression is a range function that Loki splits into shards even inside an aggregation. */
export function isShardedRange(expr: MetricExpr): boolean {
  return expr.kind === 'range-aggregation' && rangeFunctions[expr.op].shards === 'always';
}
