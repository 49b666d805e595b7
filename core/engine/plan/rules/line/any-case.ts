import { anyCasePattern } from '../../../../logql/pipeline/text-in-any-case.js';
import { backendRegexp, matches } from './backend-regexp.js';
import { lineRule } from './line-rule.js';

export const lineAnyCase = lineRule({
  id: 'lineAnyCase',
  construct:
    '|~ "(?i)text", !~ "(?i)text" and other patterns in whose place Loki looks for texts in any case',
  backend: '_msg:~"[tT][eE][xX][tT]"',
  verdict: 'exact',
  reason:
    'Loki compares letters in lower case, and knows fewer cases of the first one than of the others, so all that it takes for a letter are spelled out',
  example: '{namespace="shop"} |~ "(?i)disk full"',
  match: ({ test }) =>
    test.kind === 'contains' && test.ignoresCase ? backendRegexp(anyCasePattern(test.text)) : undefined,
  emit: matches,
});
