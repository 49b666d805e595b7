import { doAll, type Steps } from '../base/pace/steps.js';
import { sharingBudget } from './regexp/index.js';
import type { Expr, Matcher, Span } from './ast.js';
import { emptyMatcherFault } from './check/faults.js';
import { errorAt, LogqlError } from './error.js';
import { parserSteps } from './grammar/driver.js';
import { LogqlLexer } from './lexer/lexer.js';
import { isBareName } from './print/label-filter.js';
import { printQuery } from './print/query.js';
import { printSelector } from './print/stages.js';
import { isDeeperThan, logQueriesOf } from './walk.js';
import { type Invalid, ReadingAborted } from './syntax/invalid.js';
import { buildTable, type Table } from './grammar/table.js';
import { addLabelFilterRules } from './syntax/label-filter-rules.js';
import { addLogRules } from './syntax/log-rules.js';
import { addMetricRules, query } from './syntax/metric-rules.js';
import { grammar } from './syntax/tokens.js';
import { stageDescriptors } from './stages/index.js';

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
