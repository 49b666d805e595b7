import { countOf, metricRule } from './metric-rule.js';

export const metricGroups = metricRule({
  id: 'metricGroups',
  construct: 'sum by (a, b) (count_over_time(...)), rate, bytes_over_time, bytes_rate',
  backend: 'stats by (fields of a and b) count() or sum_len(_msg), in buckets of gcd(range, step)',
  verdict: 'exact',
  reason:
    'sums over buckets add up to windows; labels are made of the groups here; by _stream where fields do not tell the labels of all streams; rows pushed twice and rows without a line are taken out and counted here',
  example: 'sum by (pod) (rate({namespace="shop"} |= "timeout" [5m]))',
  match: countOf,
  emit: (count) => count,
});
