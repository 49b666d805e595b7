import { backendRegexp, foldsMore, matches } from './backend-regexp.js';
import { lineRule } from './line-rule.js';

export const lineRegexpFold = lineRule({
  id: 'lineRegexpFold',
  construct: '|~ "(?i)re" with k, s or letters beyond ASCII',
  backend: '_msg:~"(?i-s)re"',
  verdict: 'superset',
  reason: 'the backend also folds U+212A and U+017F, Loki does not on plain texts',
  example: '{namespace="shop"} |~ "(?i)disk full"',
  match: ({ op, value }) => (op === '|~' && foldsMore(value) ? backendRegexp(value) : undefined),
  emit: matches,
});
