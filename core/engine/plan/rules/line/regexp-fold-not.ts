import { foldsMore } from './backend-regexp.js';
import { lineRule } from './line-rule.js';

export const lineRegexpFoldNot = lineRule({
  id: 'lineRegexpFoldNot',
  construct: '!~ "(?i)re" with k, s or letters beyond ASCII',
  backend: '',
  verdict: 'none',
  reason: 'the backend also folds U+212A and U+017F, so its negation would lose lines',
  example: '{namespace="shop"} !~ "(?i)disk full"',
  match: ({ op, value }) => op === '!~' && foldsMore(value),
});
