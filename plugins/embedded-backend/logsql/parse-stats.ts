import type { FieldRef, GroupKey } from '../../../core/victoria/logsql/ast.js';
import type { EmbeddedFunction, EmbeddedStatsName, EmbeddedPipe } from './ast.js';
import { isBucketSize } from './bucket.js';
import type { Lexer } from './lexer.js';
import { parsePlain } from '../../../core/victoria/logsql/numbers.js';
import { readIf, readSortKeys } from './parse-clauses.js';
import {
  canonicalName,
  readCompound,
  readCount,
  readFieldsInParens,
  readInParens,
  readName,
  wrap,
} from './parse-tokens.js';
import { printEmbeddedCall } from './print.js';
import { statsNames } from '../../../core/victoria/logsql/words-table.js';

const allFields: FieldRef = { kind: 'prefix', prefix: '' };

/** Reads `by (...) func(...) as name, ...` after the name of the pipe. */
export function readStats(lexer: Lexer, kind: 'stats' | 'running_stats' | 'total_stats'): EmbeddedPipe {
  const by =
    lexer.accept('by') || lexer.is('(') ? wrap("cannot parse 'by' clause", () => readKeys(lexer)) : [];
  const functions: EmbeddedFunction[] = [];
  const taken = new Set(by.map((key) => key.field));
  do {
    if (functions.length > 0) lexer.next();
    const func = readNamedFunction(lexer);
    if (taken.has(func.as)) {
      throw lexer.fail(
        `the ${JSON.stringify(func.as)} is used already, so it cannot be used as result name for [${printEmbeddedCall(func)}]`,
      );
    }
    taken.add(func.as);
    functions.push(func);
  } while (lexer.is(','));
  const last = functions.at(-1);
  if (!lexer.is('|', ')', ';', '') && last !== undefined) {
    throw lexer.fail(
      `unexpected token ${JSON.stringify(lexer.token)} after [${printEmbeddedCall(last)} as ${last.as}]; want ',', '|', ';' or ')'`,
    );
  }
  return { kind, by, functions };
}

function readKeys(lexer: Lexer): GroupKey[] {
  return readInParens(lexer, () => {
    const text = wrap('cannot parse field name', () =>
      readCompound(lexer, ['*', ',', '(', ')', '[', ']', '|', ':', ';', '']),
    );
    const field = canonicalName(text);
    if (!lexer.accept(':')) return { field };
    const size = readSigned(lexer, '/');
    if (!isBucketSize(size)) {
      throw lexer.fail(
        `cannot parse bucket size for field ${JSON.stringify(field)}: ${JSON.stringify(size)}`,
      );
    }
    if (!lexer.accept('offset')) return { field, bucket: { size } };
    const offset = readSigned(lexer, '-');
    if (isBucketSize(offset.replace(/^-/, '')) || /^-?0[a-z]*$/.test(offset))
      return { field, bucket: { size, offset } };
    throw lexer.fail(
      `cannot parse bucket offset for field ${JSON.stringify(field)}: ${JSON.stringify(offset)}`,
    );
  });
}

function readSigned(lexer: Lexer, sign: string): string {
  let text = '';
  if (lexer.is(sign)) {
    text = sign;
    lexer.next();
  }
  text += lexer.token;
  lexer.next();
  return text;
}

function readNamedFunction(lexer: Lexer): EmbeddedFunction {
  const call = readFunction(lexer);
  const func = { ...call, ...readIf(lexer) };
  if (lexer.is(',', '|', ')', ';', '')) return { ...func, as: printEmbeddedCall(func) };
  lexer.accept('as');
  const as = wrap(`cannot parse result name for [${printEmbeddedCall(func)}]`, () => readName(lexer));
  return { ...func, as };
}

function readFunction(lexer: Lexer): Omit<EmbeddedFunction, 'as'> {
  const word = lexer.quoted ? '' : lexer.token.toLowerCase();
  const name = [...statsNames].find((known) => known === word);
  if (name === undefined) throw lexer.fail(`unknown stats func ${JSON.stringify(lexer.token)}`);
  lexer.next();
  return wrap(`cannot parse '${name}' func`, () => readArguments(lexer, name));
}

function readArguments(lexer: Lexer, name: EmbeddedStatsName): Omit<EmbeddedFunction, 'as'> {
  const args = readFieldsInParens(lexer);
  switch (name) {
    case 'rate':
      if (args.length > 0) throw lexer.fail(`unexpected args; got ${args.length}; want 0`);
      return { name, fields: [] };
    case 'quantile': {
      const phi = parsePlain(textOf(args[0]));
      if (phi === undefined || phi < 0 || phi > 1) {
        throw lexer.fail(
          `phi arg in 'quantile' must be a number in the range [0..1]; got ${JSON.stringify(textOf(args[0]))}`,
        );
      }
      return { name, fields: orAll(args.slice(1)), phi };
    }
    case 'row_min':
    case 'row_max':
    case 'field_min':
    case 'field_max': {
      const [source, ...fields] = args;
      if (source?.kind !== 'name') throw lexer.fail(`missing source field for '${name}' func`);
      const single = name === 'field_min' || name === 'field_max';
      if (single && fields.length !== 1)
        throw lexer.fail(`'${name}' needs the source field and the result field`);
      return { name, fields: orAll(fields), source: source.name };
    }
    case 'count_uniq':
    case 'count_uniq_hash':
      return { name, fields: orAll(args), ...readLimit(lexer) };
    case 'uniq_values':
    case 'values':
      return { name, fields: orAll(args), ...readLimit(lexer) };
    case 'json_values': {
      const sorted = lexer.accept('sort') || lexer.is('order');
      if (lexer.is('order')) lexer.next();
      if (sorted) lexer.accept('by');
      const sortBy = sorted ? { sortBy: readSortKeys(lexer) } : {};
      return { name, fields: orAll(args), ...sortBy, ...readLimit(lexer) };
    }
    case 'histogram':
      if (args.length !== 1)
        throw lexer.fail(`'histogram' accepts only a single field; got ${args.length} fields`);
      return { name, fields: args };
    default:
      return { name, fields: orAll(args) };
  }
}

function orAll(fields: readonly FieldRef[]): readonly FieldRef[] {
  const all = fields.length === 0 || fields.some((field) => field.kind === 'prefix' && field.prefix === '');
  return all ? [allFields] : fields;
}

function textOf(field: FieldRef | undefined): string {
  return field?.kind === 'name' ? field.name : '';
}

function readLimit(lexer: Lexer): { readonly limit?: number } {
  return lexer.accept('limit') ? { limit: readCount(lexer, 'limit') } : {};
}
