import type { Matcher } from '../../logql/ast.js';
import { compileRegExp } from '../../logql/regexp/index.js';

export function matchesText(matcher: Pick<Matcher, 'op' | 'value'>, text: string): boolean {
  switch (matcher.op) {
    case '=':
      return text === matcher.value;
    case '!=':
      return text !== matcher.value;
    case '=~':
      return compileRegExp(matcher.value, { anchored: true, dotAll: true }).test(text);
    case '!~':
      return !compileRegExp(matcher.value, { anchored: true, dotAll: true }).test(text);
  }
}
