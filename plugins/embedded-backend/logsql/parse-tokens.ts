import { compileRegExp, type LinearRegExp, RegExpSyntaxError } from '../../../core/logql/regexp/index.js';
import type { FieldRef } from '../../../core/victoria/logsql/ast.js';
import type { LogsqlError } from '../../../core/victoria/logsql/errors.js';
import type { Lexer } from './lexer.js';

const tokenEnds = [',', '(', ')', '[', ']', '|', ';', ''];

/** The error for a missing word or string. */
export function cannotStart(lexer: Lexer): LogsqlError {
  return lexer.fail(
    `compound token cannot start with ${JSON.stringify(lexer.token)}; put it into quotes if needed`,
  );
}

/**
 * Reads a word with everything directly attached to it, up to one of `ends`; a single quoted string loses its quotes.
 * @throws LogsqlError if there is nothing to read
 */
export function readCompound(lexer: Lexer, ends: readonly string[] = tokenEnds): string {
  if (lexer.is(...ends, '"', "'", '`')) throw cannotStart(lexer);
  const first = lexer.token;
  const rawFirst = lexer.raw;
  lexer.next();
  const tail = readTail(lexer, ends);
  return tail === '' ? first : rawFirst + tail;
}

/** Reads directly attached text, as written. */
function readTail(lexer: Lexer, ends: readonly string[]): string {
  let tail = '';
  while (!lexer.spaceBefore && !lexer.atEnd && !lexer.is(...ends)) {
    tail += lexer.raw;
    lexer.next();
  }
  return tail;
}

/** Reads a value that may be followed by `*`. */
export function readValue(lexer: Lexer): string {
  return readCompound(lexer, [...tokenEnds, '*']);
}

/** Reads `(a, b, c)`; a lone `*` is the text `*`. */
export function readArguments(lexer: Lexer): string[] {
  if (!lexer.accept('(')) throw lexer.fail("missing '('");
  const args: string[] = [];
  while (!lexer.accept(')')) {
    if (lexer.is('*')) {
      lexer.next();
      args.push('*');
    } else args.push(wrap('cannot parse arg', () => readCompound(lexer, [',', '(', ')', '|', ';', '*', ''])));
    if (lexer.is(')')) continue;
    if (!lexer.is(',')) throw lexer.fail(`missing ',' after ${JSON.stringify(args.at(-1))} inside ()`);
    lexer.next();
  }
  return args;
}

/** Adds a prefix to the messages of errors from `read`. */
export function wrap<T>(prefix: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) error.message = `${prefix}: ${error.message}`;
    throw error;
  }
}

/** Compiles a pattern as RE2; an invalid one is an error at the current token, with a prefix. */
export function checkedRegExp(
  lexer: Lexer,
  pattern: string,
  prefix: string,
  options: { readonly anchored?: boolean } = {},
): LinearRegExp {
  try {
    return compileRegExp(pattern, { dotAll: true, ...options });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    throw lexer.fail(`${prefix}: ${error.message}`);
  }
}

/** The stored name of a field: the empty name means `_msg`. */
export function canonicalName(name: string): string {
  return name === '' ? '_msg' : name;
}

/** Reads a field name, or a prefix `name*`. */
export function readField(lexer: Lexer): FieldRef {
  const field = fieldOf(wrap('cannot parse field name', () => readCompound(lexer)));
  return field.kind === 'prefix' ? field : { kind: 'name', name: canonicalName(field.name) };
}

/** The field that a text names, or the fields with its prefix if it ends with `*`. */
export function fieldOf(text: string): FieldRef {
  return text.endsWith('*') ? { kind: 'prefix', prefix: text.slice(0, -1) } : { kind: 'name', name: text };
}

/** Reads a field name that must not be a prefix. */
export function readName(lexer: Lexer): string {
  const field = readField(lexer);
  if (field.kind === 'name') return field.name;
  throw lexer.fail(`field name cannot end with '*'; got ${JSON.stringify(`${field.prefix}*`)}`);
}

/** Reads `a, b, c`. */
export function readFieldList(lexer: Lexer): FieldRef[] {
  const fields = [readField(lexer)];
  while (lexer.accept(',')) fields.push(readField(lexer));
  return fields;
}

/** Reads `(a, b, c)`, which may be empty or end in a comma. */
export function readFieldsInParens(lexer: Lexer): FieldRef[] {
  return readInParens(lexer, () => readField(lexer));
}

/** Reads `(item, item)` with any reader for the items. */
export function readInParens<T>(lexer: Lexer, readItem: () => T): T[] {
  if (!lexer.accept('(')) throw lexer.fail('missing `(`');
  const items: T[] = [];
  for (;;) {
    if (lexer.accept(')')) return items;
    items.push(readItem());
    if (lexer.accept(')')) return items;
    if (!lexer.accept(','))
      throw lexer.fail(`unexpected token: ${JSON.stringify(lexer.token)}; expecting ',' or ')'`);
  }
}

/** Reads field names in parentheses, none of them a prefix. */
export function readNamesInParens(lexer: Lexer): string[] {
  return readFieldsInParens(lexer).map((field) => {
    if (field.kind === 'name') return field.name;
    throw lexer.fail(`the field name ${JSON.stringify(`${field.prefix}*`)} cannot end with '*'`);
  });
}

/** Reads an unsigned integer after a word such as `limit`. */
export function readCount(lexer: Lexer, what: string): number {
  const text = lexer.token;
  const digits = text.replaceAll('_', '');
  if (!/^(?:0|[1-9]\d*)$/.test(digits)) throw lexer.fail(`cannot parse '${what} ${text}'`);
  lexer.next();
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
