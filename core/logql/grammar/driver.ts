import { doAll, type Steps } from '../../base/pace/steps.js';
import type { Terminal } from './symbols.js';
import type { Table, TableRow } from './table.js';

/** One token; `name` is its name in error texts when it differs from its kind. */
export interface Token {
  readonly kind: Terminal<unknown>;
  readonly value: unknown;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Provides tokens and receives syntax errors. */
export interface TokenSource {
  next(): Token;
  /** Called at most once per error; parsing then recovers where the grammar has an `error` rule. */
  syntaxError(message: string): void;
}

interface Frame {
  readonly state: number;
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
}

/** Tokens read per step. */
const stepTokens = 100;

/** Parses a short text without pauses; see parserSteps. */
export function runParser(table: Table, source: TokenSource): { readonly value: unknown } | undefined {
  return doAll(parserSteps(table, source));
}

/**
 * Reads all tokens and runs the actions of the rules. Returns the value of the start symbol, or undefined when recovery failed. It uses an
 * explicit stack, so nesting needs no call depth. It recovers from errors like yacc: three tokens must be read before another error is
 * reported.
 */
export function* parserSteps(
  table: Table,
  source: TokenSource,
): Steps<{ readonly value: unknown } | undefined> {
  const { rows, grammar } = table;
  const stack: Frame[] = [{ state: 0, value: undefined, start: 0, end: 0 }];
  let token: Token | undefined;
  let recovering = 0;
  let read = 0;
  for (;;) {
    const row = rowAt(rows, stack);
    const isForced = row.shifts.size === 0 && row.reductions.size === 0;
    if (!isForced) token ??= source.next();
    const target = token === undefined ? undefined : row.shifts.get(token.kind.index);
    if (token !== undefined && target !== undefined && !isForced) {
      if (token.kind === grammar.end) return { value: stack.at(-1)?.value };
      stack.push({ state: target, value: token.value, start: token.start, end: token.end });
      token = undefined;
      if (recovering > 0) recovering--;
      read += 1;
      if (read % stepTokens === 0) yield;
      continue;
    }
    const rule = (isForced ? undefined : row.reductions.get(token?.kind.index ?? -1)) ?? row.fallback;
    if (rule !== undefined) {
      const length = rule.right.length;
      const frames = length === 0 ? [] : stack.splice(-length);
      const start = frames[0]?.start ?? stack.at(-1)?.end ?? 0;
      const end = frames.at(-1)?.end ?? start;
      const value = rule.action(
        frames.map((frame) => frame.value),
        { start, end },
      );
      const next = rowAt(rows, stack).gotos.get(rule.left.index) ?? 0;
      stack.push({ state: next, value, start, end });
      continue;
    }
    if (recovering === 0 && token !== undefined) source.syntaxError(syntaxErrorText(token, row));
    if (recovering === 3) {
      if (token === undefined || token.kind === grammar.end) return undefined;
      token = undefined;
      continue;
    }
    recovering = 3;
    const resume = unwind(rows, stack, grammar.error.index);
    if (resume === undefined) return undefined;
    const at = token?.start ?? 0;
    stack.push({ state: resume, value: undefined, start: at, end: at });
  }
}

function rowAt(rows: readonly TableRow[], stack: readonly Frame[]): TableRow {
  const row = rows[stack.at(-1)?.state ?? 0];
  if (row === undefined) throw new Error('parser table has no such state');
  return row;
}

/** Pops states until one accepts the `error` token, and returns the state that follows. */
function unwind(rows: readonly TableRow[], stack: Frame[], error: number): number | undefined {
  while (stack.length > 0) {
    const target = rowAt(rows, stack).shifts.get(error);
    if (target !== undefined) return target;
    stack.pop();
  }
  return undefined;
}

function syntaxErrorText(token: Token, row: TableRow): string {
  const expected = row.expected.length === 0 ? '' : `, expecting ${row.expected.join(' or ')}`;
  return `syntax error: unexpected ${token.name}${expected}`;
}
