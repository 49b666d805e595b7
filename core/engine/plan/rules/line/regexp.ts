import { backendRegexp, matches } from './backend-regexp.js';
import { lineRule, regexpOf } from './line-rule.js';

export const lineRegexp = lineRule({
  id: 'lineRegexp',
  construct: '|~ "re", !~ "re"',
  backend: '_msg:*"text"* _msg:~"(?-s)re"',
  verdict: 'exact',
  reason:
    'the same language, once `.` does not match line feeds; where `\\b` or `^` looks back at literal text in front, the pattern goes behind `(?:\\b|\\B)`, because the backend tries it on what follows that text; texts that every match contains (in all cases, under (?i)) stand in front, because the backend finds them many times faster',
  example: '{namespace="shop"} |~ "took [0-9]{4,}ms"',
  match: (term) => {
    const pattern = regexpOf(term);
    return pattern === undefined ? undefined : backendRegexp(pattern);
  },
  emit: matches,
});
