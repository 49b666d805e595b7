import type { LogsqlFilter } from '../../../core/victoria/logsql/ast.js';
import { LogsqlError } from '../../../core/victoria/logsql/errors.js';
import type { SortKey, UpdateRule } from './ast.js';
import type { Lexer } from './lexer.js';
import { readFilter } from './parse-filter.js';
import { readInParens, readName, readNamesInParens, wrap } from './parse-tokens.js';

/** Reads `(a, b desc)` after an optional `by`. */
export function readSortKeys(lexer: Lexer): SortKey[] {
  return wrap("cannot parse 'by' clause", () =>
    readInParens(lexer, () => {
      const field = readName(lexer);
      const desc = lexer.accept('desc');
      if (!desc) lexer.accept('asc');
      return { field, desc };
    }),
  );
}

/** Reads `by (a, b)`, `(a, b)` or `by a, b`. */
export function readByNames(lexer: Lexer, ends: readonly string[]): string[] {
  const needed = lexer.accept('by');
  if (lexer.is('(')) return wrap("cannot parse 'by(...)'", () => readNamesInParens(lexer));
  if (lexer.is(...ends, '|', ')', ';', '')) {
    throw lexer.fail(needed ? "missing fields after 'by'" : "missing fields inside 'by(...)'");
  }
  const names = [readName(lexer)];
  while (lexer.accept(',')) names.push(readName(lexer));
  return names;
}

/** Reads `if (filter)`; an empty filter matches all rows. */
export function readIf(lexer: Lexer): { readonly condition?: LogsqlFilter } {
  if (!lexer.accept('if')) return {};
  if (!lexer.accept('('))
    throw lexer.fail(`unexpected token ${JSON.stringify(lexer.token)} after 'if'; expecting '('`);
  if (lexer.accept(')')) return { condition: { kind: 'all' } };
  const condition = wrap("cannot parse 'if' filter", () => readFilter(lexer));
  if (lexer.accept(')')) return { condition };
  throw new LogsqlError(`unexpected token ${JSON.stringify(lexer.token)} after 'if' filter; expecting ')'`);
}

/** Reads the rule for columns that already have a value. */
export function readUpdateRule(lexer: Lexer): UpdateRule {
  if (lexer.accept('keep_original_fields')) return { rule: 'keep-original' };
  return lexer.accept('skip_empty_results') ? { rule: 'skip-empty' } : {};
}
