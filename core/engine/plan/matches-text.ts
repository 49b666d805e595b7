import type { Matcher } from '../../logql/ast.js';
import { compileRegExp } from '../../logql/regexp/index.js';

/** Tells whether a matcher holds for a value. */
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
