import { countOf, metricRule } from './metric-rule.js';

export const metricAbsent = metricRule({
  id: 'metricAbsent',
  construct: 'absent_over_time(...)',
  backend: 'stats by (_stream) count(), in buckets of gcd(range, step)',
  verdict: 'exact',
  reason: 'only whether there are rows matters',
  example: 'absent_over_time({namespace="shop"}[5m])',
  match: (facts) => (facts.measure === 'presence' ? countOf(facts) : undefined),
  emit: (count) => count,
});
