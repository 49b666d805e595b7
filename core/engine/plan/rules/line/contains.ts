import { contains, lineRule } from './line-rule.js';

export const lineContains = lineRule({
  id: 'lineContains',
  construct: '|= "text", != "text"',
  backend: '_msg:*"text"*',
  verdict: 'exact',
  reason: 'a substring by bytes in both',
  example: '{namespace="shop"} |= "timeout"',
  match: ({ op, value }) => (op === '|=' || op === '!=' ? value : undefined),
  emit: contains,
});
