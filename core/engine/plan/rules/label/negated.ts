import { labelRule, textOf } from './label-rule.js';

export const labelNegated = labelRule({
  id: 'labelNegated',
  construct: '| name!="v" with several stored spellings, | name!~"re", | name=~"re|"',
  backend: '',
  verdict: 'none',
  reason: 'which of the fields a row shows, or what the pattern leaves, is decided row by row',
  example: '{namespace="shop"} | user!~"adm.*"',
  match: (placed) => textOf(placed) !== undefined,
});
