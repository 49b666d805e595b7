import { readLiteralRegexp } from '../../../../logql/pipeline/literal-regexp.js';
import { or } from '../../../../victoria/logsql/build.js';
import { contains, isPattern, lineRule } from './line-rule.js';

export const lineLiteralRegexp = lineRule({
  id: 'lineLiteralRegexp',
  construct: '|~ "a|b", !~ "a|b" with plain texts only',
  backend: '(_msg:*"a"* or _msg:*"b"*)',
  verdict: 'exact',
  reason: 'Loki searches for the texts too, and drops an alternative that matches everything',
  example: '{namespace="shop"} |~ "timeout|refused"',
  match: (term) => {
    const literal = isPattern(term) ? readLiteralRegexp(term.value) : undefined;
    return literal?.ignoresCase === false ? literal.texts : undefined;
  },
  emit: (texts) => or(...(texts.length === 0 ? [''] : texts).map(contains)),
});
