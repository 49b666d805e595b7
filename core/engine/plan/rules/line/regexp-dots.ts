import { and } from '../../../../victoria/logsql/build.js';
import { backendRegexp } from './backend-regexp.js';
import { containsTextsOf, lineRule, regexpOf } from './line-rule.js';

export const lineRegexpDots = lineRule({
  id: 'lineRegexpDots',
  construct: '|~ "re" with dots of both kinds, as in `\\s|.`',
  backend: '_msg:*"text"*',
  verdict: 'superset',
  reason: 'the backend takes some of the dots for the other kind, which matters for lines with line feeds',
  example: '{namespace="shop"} |~ "(?:\\\\s|.)took"',
  match: (term) => {
    const pattern = regexpOf(term);
    return pattern !== undefined && backendRegexp(pattern) === undefined ? pattern : undefined;
  },
  emit: (pattern) => and(...containsTextsOf(pattern)),
});
