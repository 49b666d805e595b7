import { lineRule } from './line-rule.js';
import { holdsReplacement } from './replacement.js';

export const lineReplacementNot = lineRule({
  id: 'lineReplacementNot',
  construct: '!=, !~ or !> with U+FFFD in the text',
  backend: '',
  verdict: 'none',
  reason: 'the backend does not find words that hold this sign, so its negation would keep them',
  example: '{namespace="shop"} != "au caf\ufffd lait"',
  match: ({ test, isNegated }) => isNegated && holdsReplacement(test),
});
