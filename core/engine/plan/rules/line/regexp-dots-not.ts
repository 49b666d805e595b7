import { backendRegexp } from './backend-regexp.js';
import { lineRule, regexpOf } from './line-rule.js';

export const lineRegexpDotsNot = lineRule({
  id: 'lineRegexpDotsNot',
  construct: '!~ "re" with dots of both kinds, as in `\\s|.`',
  backend: '',
  verdict: 'none',
  reason: 'the backend takes some of the dots for the other kind, so its negation would lose lines',
  example: '{namespace="shop"} !~ "(?:\\\\s|.)took"',
  match: (term) => {
    const pattern = regexpOf(term);
    return term.isNegated && pattern !== undefined && backendRegexp(pattern) === undefined;
  },
});
