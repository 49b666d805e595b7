import { lineRule } from './line-rule.js';

export const lineNetwork = lineRule({
  id: 'lineNetwork',
  construct: '|= ip("10.0.0.0/8"), != ip(...)',
  backend: '',
  verdict: 'none',
  reason: 'the backend tests whole values only',
  example: '{namespace="shop"} |= ip("10.0.0.0/8")',
  match: ({ test }) => test.kind === 'ip',
});
