import type { ValueTest } from '../../../core/victoria/logsql/ast.js';
import type { SubqueryTest } from './ast.js';
import { EmbeddedTest, listTest } from './own-test.js';
import { cidrRange } from '../../../core/base/ip.js';
import type { Lexer } from './lexer.js';
import { parseNumber } from '../../../core/victoria/logsql/numbers.js';
import { rangeNumber } from '../../../core/victoria/logsql/range-number.js';
import {
  canonicalName,
  checkedRegExp,
  readArguments,
  readCompound,
  readValue,
  wrap,
} from './parse-tokens.js';

/**
 * Reads a test written as an operator or as a function; undefined for an ordinary word. `!=` and `!~` are read as their positive forms,
 * which the caller negates.
 */
export function readTest(lexer: Lexer): ValueTest | undefined {
  if (lexer.is('=', '!=')) return readEquals(lexer);
  if (lexer.is('~', '!~', '=~')) {
    lexer.next();
    return regexpTest(lexer, readCompound(lexer));
  }
  if (lexer.is('>', '<')) return readCompare(lexer);
  if (lexer.is('*')) return readSubstring(lexer);
  return readFunction(lexer);
}

function readEquals(lexer: Lexer): ValueTest {
  lexer.next();
  const text = wrap('cannot parse token after "="', () => readValue(lexer));
  if (lexer.touches('*')) {
    lexer.next();
    return { kind: 'exact-prefix', text };
  }
  return { kind: 'exact', text };
}

function regexpTest(lexer: Lexer, pattern: string): ValueTest {
  checkedRegExp(lexer, pattern, `invalid regexp "_msg":${JSON.stringify(pattern)}`);
  return { kind: 'regexp', pattern };
}

function readCompare(lexer: Lexer): ValueTest {
  const sign = lexer.token === '>' ? '>' : '<';
  lexer.next();
  const op = lexer.touches('=') ? (`${sign}=` as const) : sign;
  if (op !== sign) lexer.next();
  return { kind: 'compare', op, value: readCompound(lexer) };
}

function readSubstring(lexer: Lexer): ValueTest {
  lexer.next();
  const text = readValue(lexer);
  if (!lexer.is('*') || lexer.spaceBefore)
    throw lexer.fail(`missing '*' after ${JSON.stringify(`*${text}`)}`);
  lexer.next();
  return { kind: 'substring', text };
}

function readFunction(lexer: Lexer): ValueTest | undefined {
  const name = lexer.quoted ? '' : lexer.token.toLowerCase();
  const state = lexer.save();
  lexer.next();
  const called = lexer.is('(') && !lexer.spaceBefore;
  if (name === 'range' && (called || lexer.touches('['))) return readRange(lexer);
  const reader = called ? readers.get(name) : undefined;
  if (reader !== undefined) return wrapCall(name, () => reader(lexer));
  lexer.restore(state);
  return undefined;
}

function wrapCall<T>(name: string, read: () => T): T {
  return wrap(`cannot parse ${name}()`, read);
}

type TestReader = (lexer: Lexer) => ValueTest;

function fixed(count: number, make: (lexer: Lexer, args: readonly string[]) => ValueTest): TestReader {
  return (lexer) => {
    const args = readArguments(lexer);
    if (args.length !== count)
      throw lexer.fail(`unexpected number of args; got ${args.length}; want ${count}`);
    return make(lexer, args);
  };
}

function other(kind: 'eq-field' | 'lt-field' | 'le-field'): TestReader {
  return fixed(1, (_, [name = '']) => {
    const field = canonicalName(name);
    return kind === 'lt-field' ? { kind, other: field } : new EmbeddedTest({ kind, other: field });
  });
}

function pattern(where: 'any' | 'full' | 'prefix' | 'suffix'): TestReader {
  return fixed(1, (_, [text = '']) => new EmbeddedTest({ kind: 'pattern', where, pattern: text }));
}

function list(kind: Parameters<typeof listTest>[0]): TestReader {
  return (lexer) => {
    const state = lexer.save();
    try {
      const values = readArguments(lexer);
      // in(*) and in("*") match any value, including a missing one.
      if (values.length === 1 && values[0] === '*') return { kind: 'substring', text: '' };
      return listTest(kind, [...new Set(values)]);
    } catch (error) {
      if (kind === 'json-array-contains-any') throw error;
      lexer.restore(state);
      return readSubquery(lexer, kind, error);
    }
  };
}

// Anything other than a list of values is a query whose rows provide the values.
function readSubquery(lexer: Lexer, test: SubqueryTest['test'], first: unknown): ValueTest {
  lexer.next();
  if (lexer.atEnd) throw first;
  const query = lexer.readQuery();
  if (!lexer.accept(')')) throw lexer.fail(`missing ')'; got ${JSON.stringify(lexer.token)}`);
  const last = query.pipes.at(-1);
  const single =
    last?.kind === 'fields' ? last.fields.length === 1 : last?.kind === 'uniq' && last.by.length === 1;
  if (!single) throw lexer.fail("the query inside in() must end with 'fields' or 'uniq' over a single field");
  return new EmbeddedTest({ kind: 'subquery', test, query });
}

function address(family: 'ipv4' | 'ipv6'): TestReader {
  return (lexer) => {
    const args = readArguments(lexer);
    const [from = '', to] = args;
    const range = args.length === 1 || args.length === 2 ? cidrRange(family, from, to) : undefined;
    const name = family === 'ipv4' ? 'IPv4' : 'IPv6';
    if (range === undefined)
      throw lexer.fail(`cannot parse ${name} address or ${name} CIDR ${JSON.stringify(from)}`);
    return family === 'ipv4'
      ? { kind: 'ipv4-range', ...range }
      : new EmbeddedTest({ kind: 'ipv6-range', ...range });
  };
}

/** Reads a call with one text, which may be followed by `*`. */
function prefixable(name: string, make: (text: string, prefix: boolean) => ValueTest): TestReader {
  return (lexer) => {
    lexer.next();
    const text = lexer.is('*') ? '' : readValue(lexer);
    const prefix = lexer.touches('*');
    if (prefix) lexer.next();
    if (!lexer.accept(')'))
      throw lexer.fail(`unexpected token ${JSON.stringify(lexer.token)} instead of ')' in ${name}()`);
    return make(text, prefix);
  };
}

function lengthBound(lexer: Lexer, text: string): number | undefined {
  if (/^\+?inf$/i.test(text)) return undefined;
  const value = parseNumber(text);
  if (value === undefined || value < 0)
    throw lexer.fail(`cannot parse ${JSON.stringify(text)} as unsigned integer`);
  return Math.trunc(value);
}

const readers: ReadonlyMap<string, TestReader> = new Map<string, TestReader>([
  ['in', list('in')],
  ['contains_all', list('contains-all')],
  ['contains_any', list('contains-any')],
  ['json_array_contains_any', list('json-array-contains-any')],
  ['seq', (lexer) => new EmbeddedTest({ kind: 'sequence', phrases: readArguments(lexer) })],
  ['i', prefixable('i', (text, prefix) => new EmbeddedTest({ kind: 'any-case', text, prefix }))],
  ['exact', prefixable('exact', (text, prefix) => ({ kind: prefix ? 'exact-prefix' : 'exact', text }))],
  ['re', fixed(1, (lexer, [text = '']) => regexpTest(lexer, text))],
  ['ipv4_range', address('ipv4')],
  ['ipv6_range', address('ipv6')],
  [
    'string_range',
    fixed(2, (_, [from = '', to = '']) => new EmbeddedTest({ kind: 'string-range', from, to })),
  ],
  [
    'len_range',
    fixed(2, (lexer, [from = '', to = '']) => {
      const max = lengthBound(lexer, to);
      const min = lengthBound(lexer, from) ?? Infinity;
      return new EmbeddedTest({ kind: 'len-range', min, ...(max === undefined ? {} : { max }) });
    }),
  ],
  ['value_type', fixed(1, (_, [type = '']) => ({ kind: 'value-type', type }))],
  ['eq_field', other('eq-field')],
  ['lt_field', other('lt-field')],
  ['le_field', other('le-field')],
  ['pattern_match', pattern('any')],
  ['pattern_match_full', pattern('full')],
  ['pattern_match_prefix', pattern('prefix')],
  ['pattern_match_suffix', pattern('suffix')],
]);

function readRange(lexer: Lexer): ValueTest {
  const minIncluded = lexer.is('[');
  lexer.next();
  const min = wrap('cannot parse minValue in range()', () => readRangeBound(lexer));
  if (!lexer.is(',')) {
    throw lexer.fail(
      `unexpected token ${JSON.stringify(lexer.token)} ater ${JSON.stringify(min)} in range(); want ','`,
    );
  }
  lexer.next();
  const max = wrap('cannot parse maxValue in range()', () => readRangeBound(lexer));
  if (!lexer.is(')', ']')) {
    throw lexer.fail(`unexpected closing token ${JSON.stringify(lexer.token)} in range(); want ')' or ']'`);
  }
  const maxIncluded = lexer.is(']');
  lexer.next();
  return new EmbeddedTest({ kind: 'range', min, max, minIncluded, maxIncluded });
}

function readRangeBound(lexer: Lexer): string {
  const text = readCompound(lexer);
  if (rangeNumber(text) !== undefined) return text;
  throw lexer.fail(`cannot parse ${JSON.stringify(text)} as float64`);
}
