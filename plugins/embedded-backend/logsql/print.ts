import type { LogsqlPipe } from '../../../core/victoria/logsql/ast.js';
import { printNanoseconds, quoteListed, quoteText } from '../../../core/victoria/logsql/literals.js';
import {
  pipeName,
  printFilter,
  printIf,
  printList,
  printNames,
  printPipe,
  printStats,
} from '../../../core/victoria/logsql/print.js';
import type {
  EmbeddedFunction,
  EmbeddedPipe,
  EmbeddedQuery,
  ForeignTest,
  QueryOptions,
  SortKey,
  UpdateRule,
} from './ast.js';

/** Prints a query; parsing the text gives the same tree. */
export function printEmbeddedQuery(query: EmbeddedQuery): string {
  return printParts(query, printFilter(query.filter));
}

// A query inside in() that starts like a list of values would be parsed as one; no list starts with a parenthesis.
function printSubquery(query: EmbeddedQuery): string {
  return printParts(query, `(${printFilter(query.filter)})`);
}

function printParts(query: EmbeddedQuery, filter: string): string {
  const options = printOptions(query.options ?? {});
  const head = `${options}${options === '' ? '' : ' '}${filter}`;
  return [head, ...query.pipes.map(printEmbeddedPipe)].join(' | ');
}

function printOptions(options: QueryOptions): string {
  const parts: string[] = [];
  if (options.concurrency !== undefined) parts.push(`concurrency=${options.concurrency}`);
  if (options.parallelReaders !== undefined) parts.push(`parallel_readers=${options.parallelReaders}`);
  if (options.ignoreGlobalTimeFilter !== undefined) {
    parts.push(`ignore_global_time_filter=${options.ignoreGlobalTimeFilter}`);
  }
  if (options.allowPartialResponse !== undefined) {
    parts.push(`allow_partial_response=${options.allowPartialResponse}`);
  }
  if (options.timeOffset !== undefined) parts.push(`time_offset=${printNanoseconds(options.timeOffset)}`);
  return parts.length === 0 ? '' : `options(${parts.join(', ')})`;
}

/** Prints one pipe, without the leading bar. */
export function printEmbeddedPipe(pipe: EmbeddedPipe): string {
  switch (pipe.kind) {
    case 'delete':
      return `delete ${pipe.fields.map(quoteListed).join(', ')}`;
    case 'sort': {
      const parts = ['sort'];
      if (pipe.by.length > 0) parts.push(`by (${printKeys(pipe.by)})`);
      if (pipe.desc) parts.push('desc');
      parts.push(...printPartition(pipe.partitionBy));
      if (pipe.offset !== undefined) parts.push(`offset ${pipe.offset}`);
      if (pipe.limit !== undefined) parts.push(`limit ${pipe.limit}`);
      return [...parts, ...printRank(pipe.rankAs)].join(' ');
    }
    case 'first':
    case 'last': {
      const parts = [pipe.kind, pipe.count.toString()];
      if (pipe.by.length > 0) parts.push(`by (${printKeys(pipe.by)})`);
      return [...parts, ...printPartition(pipe.partitionBy), ...printRank(pipe.rankAs)].join(' ');
    }
    case 'offset':
      return `offset ${pipe.count}`;
    case 'stats':
    case 'running_stats':
    case 'total_stats':
      return printStats(pipe, printEmbeddedCall);
    case 'top':
      return [
        `top ${pipe.count} by (${printNames(pipe.by)}) hits as ${pipeName(pipe.hitsAs)}`,
        ...printRank(pipe.rankAs),
      ].join(' ');
    case 'format':
    case 'extract':
    case 'extract_regexp':
    case 'unpack_json':
      return printPipe(pipe) + printRule(pipe);
    case 'unpack_logfmt':
      return printAs(pipe.kind, { ...pipe, kind: 'unpack_json' }) + printRule(pipe);
    case 'replace':
    case 'replace_regexp': {
      const text = printAs(pipe.kind, { ...pipe, kind: 'replace' });
      return pipe.limit === undefined ? text : `${text} limit ${pipe.limit}`;
    }
    case 'len':
    case 'hash':
    case 'json_array_len':
      return `${pipe.kind}(${pipeName(pipe.field)}) as ${pipeName(pipe.as)}`;
    case 'pack_logfmt':
      return printAs(pipe.kind, { ...pipe, kind: 'pack_json' });
    case 'unroll':
      return `unroll${printIf(pipe.condition)} by (${printNames(pipe.by)})`;
    case 'split':
      return `split ${quoteText(pipe.separator)} from ${pipeName(pipe.from)} as ${pipeName(pipe.as)}`;
    case 'collapse_nums':
      return `collapse_nums${printIf(pipe.condition)} at ${pipeName(pipe.at)}${pipe.prettify ? ' prettify' : ''}`;
    case 'decolorize':
      return `decolorize ${pipeName(pipe.field)}`;
    case 'drop_empty_fields':
      return 'drop_empty_fields';
    case 'field_values':
      return `field_values ${pipeName(pipe.field)}${pipe.limit === undefined ? '' : ` limit ${pipe.limit}`}`;
    case 'facets': {
      const parts = ['facets'];
      if (pipe.limit !== undefined) parts.push(pipe.limit.toString());
      if (pipe.maxValuesPerField !== undefined) parts.push(`max_values_per_field ${pipe.maxValuesPerField}`);
      if (pipe.maxValueLength !== undefined) parts.push(`max_value_len ${pipe.maxValueLength}`);
      if (pipe.keepConst) parts.push('keep_const_fields');
      return parts.join(' ');
    }
    case 'union':
      return `union (${printEmbeddedQuery(pipe.query)})`;
    default:
      return printPipe(pipe);
  }
}

function printKeys(keys: readonly SortKey[]): string {
  return keys.map((key) => `${pipeName(key.field)}${key.desc ? ' desc' : ''}`).join(', ');
}

function printPartition(names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`partition by (${printNames(names)})`];
}

function printRank(name: string | undefined): string[] {
  return name === undefined ? [] : [`rank as ${pipeName(name)}`];
}

function printRule({ rule }: UpdateRule): string {
  if (rule === undefined) return '';
  return rule === 'skip-empty' ? ' skip_empty_results' : ' keep_original_fields';
}

/** Prints a function without its result name; this text is also that name's default. */
export function printEmbeddedCall(func: Omit<EmbeddedFunction, 'as'>): string {
  const args: string[] = [];
  if (func.phi !== undefined) args.push(func.phi.toString());
  if (func.source !== undefined) args.push(pipeName(func.source));
  args.push(...func.fields.map(quoteListed));
  const sortBy = func.sortBy === undefined ? '' : ` sort by (${printKeys(func.sortBy)})`;
  const limit = func.limit === undefined ? '' : ` limit ${func.limit}`;
  return `${func.name}(${args.join(', ')})${sortBy}${limit}${printIf(func.condition)}`;
}

/** Prints a pipe that differs only in its name from one that the proxy writes. */
function printAs(name: string, like: LogsqlPipe): string {
  return name + printPipe(like).slice(like.kind.length);
}

/** Prints a test, the part of a field filter after the colon. */
export function printForeignTest(test: ForeignTest): string {
  switch (test.kind) {
    case 'contains-all':
      return `contains_all(${printList(test.values)})`;
    case 'contains-any':
      return `contains_any(${printList(test.values)})`;
    case 'json-array-contains-any':
      return `json_array_contains_any(${printList(test.values)})`;
    case 'subquery':
      return `${test.test.replace('-', '_')}(${printSubquery(test.query)})`;
    case 'any-case':
      return `i(${quoteText(test.text)}${test.prefix ? '*' : ''})`;
    case 'sequence':
      return `seq(${test.phrases.map(quoteText).join(',')})`;
    case 'range': {
      const open = test.minIncluded ? '[' : '(';
      return `range${open}${quoteText(test.min)}, ${quoteText(test.max)}${test.maxIncluded ? ']' : ')'}`;
    }
    case 'ipv6-range':
      return `ipv6_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'string-range':
      return `string_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'len-range':
      return `len_range(${test.min}, ${test.max ?? 'inf'})`;
    case 'eq-field':
      return `eq_field(${quoteText(test.other)})`;
    case 'le-field':
      return `le_field(${quoteText(test.other)})`;
    case 'pattern': {
      const suffix = test.where === 'any' ? '' : `_${test.where}`;
      return `pattern_match${suffix}(${quoteText(test.pattern)})`;
    }
  }
}
