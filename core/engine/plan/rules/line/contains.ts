import { contains, lineRule } from './line-rule.js';

export const lineContains = lineRule({
  id: 'lineContains',
  construct: '|= "text", != "text", |~ "a|b" and other patterns in whose place Loki looks for texts',
  backend: '_msg:*"text"*',
  verdict: 'exact',
  reason: 'a substring by bytes in both',
  example: '{namespace="shop"} |= "timeout"',
  match: ({ test }) => {
    if (test.kind === 'all') return '';
    return test.kind === 'contains' && !test.ignoresCase ? test.text : undefined;
  },
  emit: contains,
});
