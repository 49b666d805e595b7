import { doAll, type Steps } from '../base/pace/steps.js';
import { parseGoDuration, parsePrometheusDuration } from '../base/time/index.js';
import type { Expr, Matcher, Span } from './ast.js';
import { emptyMatcherFault } from './check/faults.js';
import { errorAt, LogqlError } from './error.js';
import { parserSteps, type Token, type TokenSource } from './grammar/driver.js';
import type { Terminal } from './grammar/symbols.js';
import { buildTable, type Table } from './grammar/table.js';
import { CharReader, endOfText, type Scanned, scanToken } from './lexer/scanner.js';
import { isBareName } from './stages/label-filter.js';
import { printQuery } from './print.js';
import { printSelector, stageDescriptors } from './stages/index.js';
import { sharingBudget } from './regexp/index.js';
import { addLogRules, type Invalid, ReadingAborted } from './syntax/log-rules.js';
import { addLabelFilterRules } from './syntax/label-filter-rules.js';
import { addMetricRules, query } from './syntax/metric-rules.js';
import { fixedTokens, functionWords, grammar, token } from './syntax/tokens.js';
import { parseBytes } from './values/bytes.js';
import { unquoteGo } from './values/unquote.js';
import { isDeeperThan, logQueriesOf } from './walk.js';

interface LexerOptions {
  /** Reads `a.b.c` as one name, which Loki does not support. */
  readonly dottedNames: boolean;
}

const flags = new Set(['--strict', '--keep-empty']);
const lineFeed = 0x0a;
const called = /^\p{White_Space}*(?:(?:by|without)\p{White_Space}*)?\(/iu;
const callOrGrouping = /^\p{White_Space}*(?:\(|(?:by|without)\p{White_Space}*.?)/isu;
const maybeCalled = /^\p{White_Space}*(?:(?:b|by|w|wi|wit|with|witho|withou|without)\p{White_Space}*)?$/iu;

/** Bounds how long parsing one query can take; Loki has no such limit. */
const maxTokens = 65_536;

/** Splits a text into LogQL tokens and keeps its first error. */
class LogqlLexer implements TokenSource {
  /** The first error; Loki reports no other. */
  fault: LogqlError | undefined;
  readonly #reader: CharReader;
  readonly #dottedNames: boolean;
  #ended = false;
  #tokens = 0;

  constructor(text: string, options: LexerOptions) {
    this.#reader = new CharReader(text, (message) => {
      this.#report(message);
    });
    this.#dottedNames = options.dottedNames;
  }

  syntaxError(message: string): void {
    this.#report(message);
  }

  /** @throws LogqlError beyond maxTokens, immediately: the rest is not read. */
  next(): Token {
    this.#tokens += 1;
    if (this.#tokens > maxTokens)
      throw errorAt(`query is too long (more than ${String(maxTokens)} words and signs)`);
    for (;;) {
      const read = this.#ended ? this.#end(this.#reader.offset) : this.#read();
      if (read !== undefined) return read;
    }
  }

  /** Undefined for a comment. */
  #read(): Token | undefined {
    const piece = scanToken(this.#reader, (message) => {
      this.#report(message);
    });
    switch (piece.kind) {
      case 'end':
        return this.#end(piece.start);
      case 'number':
        return this.#number(piece);
      case 'string':
        return this.#string(piece);
      case 'name':
        return this.#word(piece);
      case 'char':
        return this.#token(token.identifier, piece.text, piece.start);
      case 'symbol':
        return this.#symbol(piece);
    }
  }

  #symbol(piece: Scanned): Token | undefined {
    const reader = this.#reader;
    if (piece.text === '#') {
      this.#comment();
      return undefined;
    }
    if (piece.text === '[') return this.#range(piece);
    if (piece.text === '-') {
      const flag = /^-[\p{L}-]*/u.exec(reader.rest(16))?.[0];
      if (flag !== undefined) reader.inspect(flag.length);
      if (flag !== undefined && flags.has(`-${flag}`)) {
        reader.skipOver(flag);
        return this.#token(token.flag, `-${flag}`, piece.start);
      }
      const duration = scanDuration(reader, '-');
      if (duration !== undefined) return this.#token(token.duration, duration, piece.start);
    }
    const ahead = reader.peek();
    const double = ahead < 0 ? undefined : fixedTokens.get(piece.text + String.fromCodePoint(ahead));
    if (double !== undefined) {
      reader.skip();
      return this.#token(double, double.name, piece.start);
    }
    const single = fixedTokens.get(piece.text);
    if (single !== undefined) return this.#token(single, single.name, piece.start);
    return this.#token(token.identifier, piece.text, piece.start);
  }

  /** Skips a comment and its line feed; Loki keeps the line feed when nothing precedes the comment. */
  #comment(): void {
    const reader = this.#reader;
    for (let code = reader.peek(); code !== lineFeed && code !== endOfText;) {
      code = reader.peek();
      reader.skip();
    }
  }

  #word(piece: Scanned): Token {
    let name = piece.text;
    if (this.#dottedNames) {
      const tail = /^(?:\.[\p{L}\p{Nd}_]+)+/u.exec(this.#reader.rest(4096))?.[0] ?? '';
      this.#reader.skipOver(tail);
      name += tail;
    }
    const word = name.toLowerCase();
    const called = functionWords.get(word);
    if (called !== undefined && this.#isCall()) {
      return { ...this.#token(called.kind, word, piece.start), name: called.name };
    }
    const fixed = fixedTokens.get(word);
    if (fixed !== undefined) return this.#token(fixed, word, piece.start);
    return this.#token(token.identifier, name, piece.start);
  }

  /** True when `(`, `by (` or `without (` follows; comments are not skipped here. */
  #isCall(): boolean {
    for (let length = 64; ; length *= 4) {
      const rest = this.#reader.rest(length);
      const isWhole = rest.length < length;
      const call = called.exec(rest);
      const isKnown = call !== null || isWhole || !maybeCalled.test(rest);
      // For other names Loki reads on to the end of the query to find out that this is not a call.
      if (isKnown) this.#reader.inspect(callOrGrouping.exec(rest)?.[0].length ?? Infinity);
      if (isKnown) return call !== null;
    }
  }

  #number(piece: Scanned): Token {
    const duration = scanDuration(this.#reader, piece.text);
    if (duration !== undefined) return this.#token(token.duration, duration, piece.start);
    const bytes = scanBytes(this.#reader, piece.text);
    if (bytes !== undefined) return this.#token(token.bytes, bytes, piece.start);
    return this.#token(token.number, piece.text, piece.start);
  }

  #string(piece: Scanned): Token {
    const value = unquoteGo(piece.text);
    if (value !== undefined) return this.#token(token.string, value, piece.start);
    this.#report('invalid syntax');
    return this.#end(piece.start);
  }

  #range(piece: Scanned): Token {
    const reader = this.#reader;
    const start = reader.offset;
    reader.forgetLine();
    while (reader.peek() !== 0x5d) {
      if (reader.peek() === endOfText) {
        this.#report("missing closing ']' in duration");
        return this.#end(piece.start);
      }
      reader.skip();
    }
    const part = { start, end: reader.offset };
    const parsed = parsePrometheusDuration(reader.slice(start));
    reader.skip();
    if (parsed.kind === 'ok') return this.#token(token.range, parsed.value, piece.start);
    this.#report(parsed.error, part);
    return this.#end(piece.start);
  }

  #end(start: number): Token {
    this.#ended = true;
    return { kind: grammar.end, value: undefined, name: grammar.end.name, start, end: start };
  }

  #token<T>(kind: Terminal<T>, value: T, start: number): Token {
    return { kind, value, name: kind.name, start, end: this.#reader.offset };
  }

  #report(message: string, part?: Span): void {
    this.fault ??= errorAt(message, this.#reader.tokenLine, this.#reader.tokenColumn, part);
  }
}

const durationTail = /^[\p{N}nsum\u00b5hdwy.]+/u;
const bytesTail = /^[\p{N}BikKMGTP.]+/u;
/** Longer than any meaningful duration or size; bounds the lookahead. */
const maxTail = 256;

/** Scans a duration that begins with a number (or `-`); if there is none, the reader does not move. */
function scanDuration(reader: CharReader, head: string): bigint | undefined {
  return scanTail(reader, head, durationTail, (text) => {
    const parsed = parsePrometheusDuration(text);
    return parsed.kind === 'ok' ? parsed.value : parseGoDuration(text);
  });
}

/** Scans a size in bytes that begins with a number. */
function scanBytes(reader: CharReader, head: string): number | undefined {
  return scanTail(reader, head, bytesTail, parseBytes);
}

function scanTail<T>(
  reader: CharReader,
  head: string,
  pattern: RegExp,
  parse: (text: string) => T | undefined,
): T | undefined {
  const tail = pattern.exec(reader.rest(maxTail))?.[0];
  if (tail === undefined) return undefined;
  reader.inspect(tail.length);
  const value = parse(head + tail);
  if (value === undefined) return undefined;
  reader.skipOver(tail);
  return value;
}

/** `reject` (the default) is Loki's language; `accept` allows `a.b.c` wherever a label name may be. */
export interface ParseOptions {
  readonly dottedNames?: 'reject' | 'accept';
}

const maxInputBytes = 131072;
/** Keeps recursive functions over trees from overflowing the stack; Loki has no such limit. */
const maxDepth = 1000;

/**
 * Parses a query and checks everything that Loki checks before running it, except stages (see checkStages).
 * @throws LogqlError with Loki's text
 */
export function parseQuery(text: string, options: ParseOptions = {}): Expr {
  return doAll(parseSteps(text, options));
}

/** As `parseQuery`, in steps, for long texts. */
export function parseSteps(text: string, options: ParseOptions = {}): Steps<Expr> {
  return sharingBudget(querySteps(text, options));
}

function* querySteps(text: string, options: ParseOptions): Steps<Expr> {
  const expr = yield* uncheckedSteps(text, options);
  if (expr.kind === 'invalid') throw expr.error;
  if (expr.kind === 'log') requireNonEmptyMatcher(expr.selector.matchers, expr.selector.span);
  return expr;
}

/**
 * Parses a query and prints it in Loki's layout, as the format_query endpoint does.
 * @throws LogqlError with Loki's text
 */
export function formatQuery(text: string, options: ParseOptions = {}): string {
  return printQuery(parseQuery(text, options));
}

/**
 * Parses a selector without a pipeline, as the label, series and index endpoints accept it; `{}` is allowed.
 * @throws LogqlError with Loki's text
 */
export function parseMatchers(text: string, options: ParseOptions = {}): readonly Matcher[] {
  return doAll(matchersSteps(text, options));
}

/** As `parseMatchers`, in steps, for long texts. */
export function* matchersSteps(text: string, options: ParseOptions = {}): Steps<readonly Matcher[]> {
  const expr = yield* sharingBudget(uncheckedSteps(text, options));
  if (expr.kind === 'invalid') throw expr.error;
  if (expr.kind !== 'log' || expr.stages.length > 0)
    throw new LogqlError('only label matchers are supported');
  return expr.selector.matchers;
}

/**
 * Checks that selectors survive being printed and parsed again, as Loki does before it reads lines. That fails for names that it prints in
 * quotes.
 * @throws LogqlError with Loki's text
 */
export function checkSelectors(expr: Expr): void {
  for (const { selector } of logQueriesOf(expr))
    if (!selector.matchers.every(({ name }) => isBareName(name)))
      parseMatchers(printSelector(selector), { dottedNames: 'accept' });
}

/**
 * Requires a matcher that refuses the empty value; endpoints that read all streams on `{}` skip this.
 * @throws LogqlError with Loki's text
 */
export function requireNonEmptyMatcher(matchers: readonly Matcher[], part?: Span): void {
  const fault = emptyMatcherFault(matchers);
  if (fault !== undefined) throw errorAt(fault, 0, 0, part);
}

function* uncheckedSteps(text: string, options: ParseOptions): Steps<Expr | Invalid> {
  const size = Buffer.byteLength(text);
  if (size >= maxInputBytes)
    throw errorAt(`input size too long (${String(size)} > ${String(maxInputBytes)})`);
  const lexer = new LogqlLexer(text, { dottedNames: options.dottedNames === 'accept' });
  let result;
  try {
    result = yield* parserSteps(logqlTable(), lexer);
  } catch (error) {
    throw error instanceof ReadingAborted ? error.error : error;
  }
  if (lexer.fault !== undefined) throw lexer.fault;
  yield;
  // The start symbol's rules have no other results; without an error there is a result.
  const expr = result?.value as Expr | Invalid;
  if (expr.kind !== 'invalid' && isDeeperThan(expr, maxDepth)) {
    throw errorAt(`query is nested too deeply (more than ${String(maxDepth)} levels)`);
  }
  return expr;
}

let table: Table | undefined;

/** LogQL's parser table, built on first use. */
export function logqlTable(): Table {
  table ??= makeTable();
  return table;
}

function makeTable(): Table {
  const start = grammar.nonterminal<Expr | Invalid>('start');
  // A separate rule, as in Loki: a query has ended at any other token, and what follows is not parsed as its continuation.
  const whole = grammar.nonterminal<Expr | Invalid>('whole query');
  grammar.rule(start)([whole, grammar.end], ([made]) => made);
  grammar.rule(whole)([query], ([made]) => made);
  addLogRules();
  for (const descriptor of Object.values(stageDescriptors)) descriptor.addRules();
  addLabelFilterRules();
  addMetricRules();
  return buildTable(grammar);
}
