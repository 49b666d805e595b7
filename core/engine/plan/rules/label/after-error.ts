import { labelRule } from './label-rule.js';

export const labelAfterError = labelRule({
  id: 'labelAfterError',
  construct: '| name > 10 behind a stage that may fail',
  backend: '',
  verdict: 'none',
  reason: 'rows that are marked with an error pass comparisons of numbers',
  example: '{namespace="shop"} | json took="took" | status_code >= 500',
  match: ({ comparison, mayHaveFailed }) => comparison.kind !== 'string' && mayHaveFailed,
});
