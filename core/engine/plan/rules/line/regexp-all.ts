import { compileRegExp } from '../../../../logql/regexp/index.js';
import { lineRule, regexpOf } from './line-rule.js';

export const lineRegexpAll = lineRule({
  id: 'lineRegexpAll',
  construct: '|~ "re" that matches the empty text',
  backend: '',
  verdict: 'none',
  reason: 'the backend tries no pattern that matches the empty text, and lets every line pass',
  example: '{namespace="shop"} |~ "x*"',
  match: (term) => {
    const pattern = regexpOf(term);
    return pattern !== undefined && compileRegExp(pattern).test('');
  },
});
