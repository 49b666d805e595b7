import { compileRegExp, RegExpSyntaxError } from '../regexp/index.js';
import { plainTexts } from '../regexp/plain-texts.js';
import { firstRawByte } from '../values/raw-bytes.js';
import type { Matcher, MatchOp, Span } from '../ast.js';
import { abort } from './invalid.js';

/** Makes a matcher and refuses an invalid regular expression immediately; texts and alternatives of texts are never parsed as one. */
export function checkedMatcher(name: string, op: MatchOp, value: string, span: Span): Matcher {
  if (op === '=~' || op === '!~') {
    const fault = plainTexts(value) === undefined ? regexpFault(value) : undefined;
    if (fault !== undefined) abort(fault);
  }
  return { kind: 'matcher', name, op, value, span };
}

/** The text of Go's regexp package, or undefined when the pattern is valid. */
export function regexpFault(pattern: string): string | undefined {
  const broken = firstRawByte(pattern);
  if (broken >= 0) return `error parsing regexp: invalid UTF-8: \`${pattern.slice(broken)}\``;
  try {
    compileRegExp(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RegExpSyntaxError) return error.message;
    throw error;
  }
}
