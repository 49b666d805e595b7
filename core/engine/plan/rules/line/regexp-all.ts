import { compileRegExp } from '../../../../logql/regexp/index.js';
import { isPattern, lineRule } from './line-rule.js';

export const lineRegexpAll = lineRule({
  id: 'lineRegexpAll',
  construct: '|~ "re" that matches the empty text',
  backend: '',
  verdict: 'none',
  reason: 'it lets every line pass in the backend; Loki may simplify it',
  example: '{namespace="shop"} |~ "x*"',
  match: (term) => isPattern(term) && compileRegExp(term.value).test(''),
});
