import { labelRule } from './label-rule.js';

export const labelAfterError = labelRule({
  id: 'labelAfterError',
  construct: '| name = ip("10.0.0.0/8") behind a stage that may fail',
  backend: '',
  verdict: 'none',
  reason: 'rows that are marked with an error pass comparisons of addresses',
  example: '{namespace="shop"} | json took="took" | client=ip("10.0.0.0/8")',
  match: ({ comparison, mayHaveFailed }) => comparison.kind === 'ip' && mayHaveFailed,
});
