import type { EmbeddedPipe } from './ast.js';
import { parseExtractPattern, parseFormatPattern } from '../../../core/victoria/logsql/extract-pattern.js';
import type { Lexer } from './lexer.js';
import { readByNames, readIf, readUpdateRule } from './parse-clauses.js';
import {
  checkedRegExp,
  readCompound,
  readCount,
  readFieldsInParens,
  readName,
  wrap,
} from './parse-tokens.js';

const ends = ['|', ')', ';', ''];

/** Reads pipes that change columns, and those that list fields; undefined for any other name. */
export function readReshapePipe(lexer: Lexer, name: string): EmbeddedPipe | undefined {
  switch (name) {
    case 'format':
      return readFormat(lexer);
    case 'extract':
    case 'extract_regexp':
      return readExtract(lexer, name);
    case 'unpack_json':
    case 'unpack_logfmt':
      return readUnpack(lexer, name);
    case 'replace':
    case 'replace_regexp':
      return readReplace(lexer, name);
    case 'len':
    case 'hash':
    case 'json_array_len': {
      lexer.next();
      const field = readParenthesizedName(lexer);
      return { kind: name, field, as: readResult(lexer) };
    }
    case 'pack_json':
    case 'pack_logfmt': {
      lexer.next();
      const fields = lexer.accept('fields') ? readFieldsInParens(lexer) : [];
      const all = fields.some((field) => field.kind === 'prefix' && field.prefix === '');
      return { kind: name, fields: all ? [] : fields, as: readResult(lexer) };
    }
    case 'unroll': {
      lexer.next();
      const rules = readIf(lexer);
      return { kind: name, by: readByNames(lexer, []), ...rules };
    }
    case 'split': {
      lexer.next();
      const separator = readCompound(lexer);
      const from = lexer.accept('from') ? readName(lexer) : '_msg';
      return { kind: name, separator, from, as: lexer.accept('as') ? readName(lexer) : from };
    }
    case 'collapse_nums': {
      lexer.next();
      const rules = readIf(lexer);
      const at = lexer.accept('at') ? readName(lexer) : '_msg';
      return { kind: name, at, prettify: lexer.accept('prettify'), ...rules };
    }
    case 'decolorize':
      lexer.next();
      return { kind: name, field: lexer.is(...ends) ? '_msg' : readName(lexer) };
    case 'drop_empty_fields':
      lexer.next();
      return { kind: name };
    case 'field_names':
      lexer.next();
      return { kind: name, as: lexer.accept('as') || !lexer.is(...ends) ? readName(lexer) : 'name' };
    case 'field_values': {
      lexer.next();
      const field = readParenthesizedName(lexer);
      return { kind: name, field, ...(lexer.accept('limit') ? { limit: readCount(lexer, 'limit') } : {}) };
    }
    case 'facets':
      return readFacets(lexer);
    case 'union': {
      lexer.next();
      if (!lexer.accept('(')) throw lexer.fail("missing '(' after 'union'");
      const query = lexer.readQuery();
      if (!lexer.accept(')')) throw lexer.fail(`missing ')'; got ${JSON.stringify(lexer.token)}`);
      return { kind: name, query };
    }
    default:
      return undefined;
  }
}

function readParenthesizedName(lexer: Lexer): string {
  if (!lexer.accept('(')) return readName(lexer);
  const name = readName(lexer);
  if (lexer.accept(')')) return name;
  throw lexer.fail(`missing ')' after '${name}'`);
}

function readResult(lexer: Lexer): string {
  lexer.accept('as');
  return lexer.is(...ends) ? '_msg' : readName(lexer);
}

function readFormat(lexer: Lexer): EmbeddedPipe {
  lexer.next();
  const condition = readIf(lexer);
  const pattern = wrap("cannot read 'format'", () => readCompound(lexer));
  wrap(`cannot parse 'pattern' ${JSON.stringify(pattern)}`, () => parseFormatPattern(pattern));
  const as = lexer.accept('as') ? readName(lexer) : '_msg';
  return { kind: 'format', pattern, as, ...condition, ...readUpdateRule(lexer) };
}

function readExtract(lexer: Lexer, kind: 'extract' | 'extract_regexp'): EmbeddedPipe {
  lexer.next();
  const condition = readIf(lexer);
  const pattern = wrap("cannot read 'pattern'", () => readCompound(lexer));
  if (kind === 'extract')
    wrap(`cannot parse 'pattern' ${JSON.stringify(pattern)}`, () => parseExtractPattern(pattern));
  else checkGroups(lexer, pattern);
  const from = lexer.accept('from') ? wrap("cannot parse 'from' field name", () => readName(lexer)) : '_msg';
  return { kind, pattern, from, ...condition, ...readUpdateRule(lexer) };
}

function checkGroups(lexer: Lexer, pattern: string): void {
  const shown = JSON.stringify(pattern);
  const compiled = checkedRegExp(lexer, pattern, `cannot parse 'pattern' ${shown}`);
  if (compiled.groupNames.some((name) => name !== '')) return;
  throw lexer.fail(
    `the 'pattern' ${shown} must contain at least a single named group in the form (?P<group_name>...)`,
  );
}

function readUnpack(lexer: Lexer, kind: 'unpack_json' | 'unpack_logfmt'): EmbeddedPipe {
  lexer.next();
  const condition = readIf(lexer);
  let from = '_msg';
  if (!lexer.is('fields', 'result_prefix', 'keep_original_fields', 'skip_empty_results', ...ends)) {
    lexer.accept('from');
    from = wrap("cannot parse 'from' field name", () => readName(lexer));
  }
  const fields = lexer.accept('fields') ? wrap("cannot parse 'fields'", () => readFieldsInParens(lexer)) : [];
  const all = fields.some((field) => field.kind === 'prefix' && field.prefix === '');
  const prefix = lexer.accept('result_prefix') ? readCompound(lexer) : '';
  return { kind, from, fields: all ? [] : fields, prefix, ...condition, ...readUpdateRule(lexer) };
}

function readReplace(lexer: Lexer, kind: 'replace' | 'replace_regexp'): EmbeddedPipe {
  lexer.next();
  const condition = readIf(lexer);
  if (!lexer.accept('(')) throw lexer.fail(`missing '(' after '${kind}'`);
  const old = readCompound(lexer);
  if (kind === 'replace_regexp') checkedRegExp(lexer, old, `cannot parse regexp ${JSON.stringify(old)}`);
  if (!lexer.accept(',')) throw lexer.fail(`missing ',' after '${kind}(${JSON.stringify(old)}'`);
  const replacement = readCompound(lexer);
  if (!lexer.accept(')')) throw lexer.fail(`missing ')' after '${kind}(${JSON.stringify(old)}'`);
  const at = lexer.accept('at') ? readName(lexer) : '_msg';
  return {
    kind,
    old,
    replacement,
    at,
    ...(lexer.accept('limit') ? { limit: readCount(lexer, 'limit') } : {}),
    ...condition,
  };
}

function readFacets(lexer: Lexer): EmbeddedPipe {
  lexer.next();
  const head =
    lexer.is(...ends) || lexer.is('max_values_per_field', 'max_value_len', 'keep_const_fields')
      ? {}
      : { limit: readCount(lexer, 'facets') };
  let options: { maxValuesPerField?: number; maxValueLength?: number } = {};
  let keepConst = false;
  for (;;) {
    if (lexer.accept('max_values_per_field'))
      options = { ...options, maxValuesPerField: readCount(lexer, 'max_values_per_field') };
    else if (lexer.accept('max_value_len'))
      options = { ...options, maxValueLength: readCount(lexer, 'max_value_len') };
    else if (lexer.accept('keep_const_fields')) keepConst = true;
    else return { kind: 'facets', ...head, ...options, keepConst };
  }
}
