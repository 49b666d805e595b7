import { compileRegExp, RegExpSyntaxError } from '../regexp/index.js';
import type { Matcher, MatchOp, Span } from '../ast.js';
import { abort } from './invalid.js';

/** Makes a matcher and refuses an invalid regular expression immediately. */
export function makeMatcher(name: string, op: MatchOp, value: string, span: Span): Matcher {
  if (op === '=~' || op === '!~') {
    const fault = regexpFault(value);
    if (fault !== undefined) abort(fault);
  }
  return { kind: 'matcher', name, op, value, span };
}

/** The text of Go's regexp package, or undefined when the pattern is valid. */
export function regexpFault(pattern: string): string | undefined {
  try {
    compileRegExp(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RegExpSyntaxError) return error.message;
    throw error;
  }
}
