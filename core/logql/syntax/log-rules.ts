import type { LabelFilter, LogExpr, Matcher, MatchOp, MetricExpr, Selector, Span, Stage } from '../ast.js';
import { errorAt, type LogqlError } from '../error.js';
import { compileRegExp, RegExpSyntaxError } from '../regexp/index.js';
import { plainTexts } from '../regexp/plain-texts.js';
import { firstRawByte } from '../values/raw-bytes.js';
import { append, grammar, operator, token } from './tokens.js';

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
function checkedMatcher(name: string, op: MatchOp, value: string, span: Span): Matcher {
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

const { identifier, string, openBrace, closeBrace, comma, open, close, pipe } = token;

export const matcher = grammar.nonterminal<Matcher>('matcher');
export const selector = grammar.nonterminal<Selector>('selector');
export const pipeline = grammar.nonterminal<Stage[]>('pipeline');
export const stages = grammar.nonterminal<readonly Stage[]>('stages');
export const stage = grammar.nonterminal<Stage>('stage');
export const labelFilter = grammar.nonterminal<LabelFilter>('label filter');
export const logQuery = grammar.nonterminal<LogExpr>('log query');
const matchers = grammar.nonterminal<Matcher[]>('matchers');

const matchTokens = [token.equal, operator('!='), token.matches, token.matchesNot];
const matchOps: readonly MatchOp[] = ['=', '!=', '=~', '!~'];

/** Rules for selectors and for log queries as a whole. */
export function addLogRules(): void {
  for (const [index, op] of matchOps.entries()) {
    const kind = matchTokens[index];
    if (kind === undefined) continue;
    grammar.rule(matcher)([identifier, kind, string], ([name, , value], span) =>
      checkedMatcher(name, op, value, span),
    );
  }
  grammar.rule(matchers)([matcher], ([first]) => [first]);
  grammar.rule(matchers)([matchers, comma, matcher], ([list, , next]) => append(list, next));

  const empty = (span: Selector['span']): Selector => ({ kind: 'selector', matchers: [], span });
  grammar.rule(selector)([openBrace, matchers, closeBrace], ([, list], span) => ({
    kind: 'selector',
    matchers: list,
    span,
  }));
  grammar.rule(selector)([openBrace, closeBrace], (_, span) => empty(span));
  // Parsing continues after an error behind a matcher: an invalid regexp further right is reported instead.
  grammar.rule(selector)([openBrace, matchers, grammar.error], (_, span) => empty(span));

  grammar.rule(stages)([pipe, stage], ([, made], span) => [{ ...made, span }]);
  grammar.rule(pipeline)([stages], ([made]) => [...made]);
  grammar.rule(pipeline)([pipeline, stages], ([list, made]) => append(list, ...made));

  grammar.rule(logQuery)([selector], ([made], span) => ({ kind: 'log', selector: made, stages: [], span }));
  grammar.rule(logQuery)([selector, pipeline], ([made, list], span) => ({
    kind: 'log',
    selector: made,
    stages: list,
    span,
  }));
  grammar.rule(logQuery)([open, logQuery, close], ([, inner]) => inner);
}
