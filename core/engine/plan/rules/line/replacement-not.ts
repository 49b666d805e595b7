import { holdsReplacement, isNegative, lineRule } from './line-rule.js';

export const lineReplacementNot = lineRule({
  id: 'lineReplacementNot',
  construct: '!=, !~ or !> with U+FFFD in the text',
  backend: '',
  verdict: 'none',
  reason: 'the backend does not find words that hold this sign, so its negation would keep them',
  example: '{namespace="shop"} != "au caf\ufffd lait"',
  match: (term) => isNegative(term) && holdsReplacement(term),
});
