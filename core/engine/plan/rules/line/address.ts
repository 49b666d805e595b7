import { parseAddress } from '../../../../logql/pipeline/ip-matcher.js';
import { contains, lineRule } from './line-rule.js';

export const lineAddress = lineRule({
  id: 'lineAddress',
  construct: '|= ip("10.0.0.1")',
  backend: '_msg:*"10.0.0.1"*',
  verdict: 'superset',
  reason: 'the text may stand inside of a longer number',
  example: '{namespace="shop"} |= ip("10.0.0.1")',
  match: ({ test, isNegated }) => {
    // Only dotted addresses have a single spelling.
    const isSpelledOnce = test.kind === 'ip' && parseAddress(test.value)?.bits === 32;
    return isSpelledOnce && !isNegated ? test.value : undefined;
  },
  emit: contains,
});
