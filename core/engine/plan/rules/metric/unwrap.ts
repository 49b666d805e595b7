import { metricRule } from './metric-rule.js';

export const metricUnwrap = metricRule({
  id: 'metricUnwrap',
  construct: 'unwrap',
  backend:
    'behind json: the labels that matter instead of the line, where they are certain, as for metricJson; for quantiles, minima and maxima the values of each group, gathered',
  verdict: 'none',
  reason: 'numbers, durations and sizes are read differently, and values that are none are errors',
  example: 'sum(sum_over_time({namespace="shop"} | unwrap took [5m]))',
  match: ({ measure }) => measure === undefined,
});
