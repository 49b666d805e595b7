import { countOf, metricRule } from './metric-rule.js';

export const metricIdentity = metricRule({
  id: 'metricIdentity',
  construct: 'count_over_time(...) and others without sum by (...) around them',
  backend: 'stats by (_stream, all stored fields) count() or sum_len(_msg), levels as above',
  verdict: 'superset',
  reason:
    'every combination of structured metadata is a series of its own; with too many of them (a trace id) rows are read instead',
  example: 'count_over_time({namespace="shop"}[5m])',
  match: (facts) => (facts.names === 'all' ? countOf(facts) : undefined),
  emit: (count) => count,
});
