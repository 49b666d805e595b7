import { lineRule } from './line-rule.js';

export const linePatternNot = lineRule({
  id: 'linePatternNot',
  construct: '!> "a <_> b"',
  backend: '',
  verdict: 'none',
  reason: 'the negation of a superset would lose lines',
  example: '{namespace="shop"} !> "<_> took <_>ms"',
  match: ({ test, isNegated }) => test.kind === 'pattern' && isNegated,
});
