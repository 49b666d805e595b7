import type { MetricExpr, Matcher, MatchOp, Span } from '../ast.js';
import { errorAt, type LogqlError } from '../error.js';
import { compileRegExp, RegExpSyntaxError } from '../regexp/index.js';
import { plainTexts } from '../regexp/plain-texts.js';
import { firstRawByte } from '../values/raw-bytes.js';

/**
 * Stands for a metric expression that is well formed but invalid. A valid expression takes over the error of its first invalid part, so
 * that the outermost and then the leftmost error is reported.
 */
export interface Invalid {
  readonly kind: 'invalid';
  readonly error: LogqlError;
  /** True for a number: an operator reports that before its other faults. */
  readonly isLiteral: boolean;
}

/** The result of the actions of metric rules. */
export type Metric = MetricExpr | Invalid;

export function invalid(message: string, isLiteral = false, part?: Span): Invalid {
  return { kind: 'invalid', error: errorAt(message, 0, 0, part), isLiteral };
}

/** The error of an expression with an invalid part. */
export function nested(part: Invalid): Invalid {
  return { ...part, isLiteral: false };
}

/** Thrown by an action whose error ends parsing immediately, whatever errors were found before. */
export class ReadingAborted extends Error {
  override readonly name = 'ReadingAborted';
  constructor(readonly error: LogqlError) {
    super(error.message);
  }
}

/** Ends parsing with an error. */
export function abort(message: string): never {
  throw new ReadingAborted(errorAt(message));
}

/** Makes a matcher, and refuses an invalid regular expression immediately. Texts and alternatives of texts are never parsed as regexps. */
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
