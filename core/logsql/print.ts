import type {
  FieldRef,
  LogsqlFilter,
  LogsqlQuery,
  QueryOptions,
  StreamMatcher,
  TimeFilter,
  ValueTest,
} from './ast.js';
import { printPipe } from './print-pipes.js';
import { printDuration, quoteName, quoteText } from './quote.js';
import { formatTime } from './time.js';

/** Prints a query; parsing the text gives the same tree back. */
export function printQuery(query: LogsqlQuery): string {
  return printParts(query, printFilter(query.filter));
}

// A query inside in() whose beginning reads as a list of values would be taken for one; no list begins with a parenthesis.
function printSubquery(query: LogsqlQuery): string {
  return printParts(query, `(${printFilter(query.filter)})`);
}

function printParts(query: LogsqlQuery, filter: string): string {
  const options = printOptions(query.options);
  const head = `${options}${options === '' ? '' : ' '}${filter}`;
  return [head, ...query.pipes.map(printPipe)].join(' | ');
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
  if (options.timeOffset !== undefined) parts.push(`time_offset=${printDuration(options.timeOffset)}`);
  return parts.length === 0 ? '' : `options(${parts.join(', ')})`;
}

/** Prints a filter. */
export function printFilter(filter: LogsqlFilter): string {
  switch (filter.kind) {
    case 'all':
      return '*';
    case 'and':
      return filter.parts
        .map((part) => printInside(part, part.kind === 'and' || part.kind === 'or'))
        .join(' ');
    case 'or':
      return filter.parts.map((part) => printInside(part, part.kind === 'or')).join(' or ');
    case 'not':
      return `!${printInside(filter.filter, filter.filter.kind !== 'field' || filter.filter.field.kind === 'prefix')}`;
    case 'stream':
      return `{${filter.groups.map((group) => group.map(printMatcher).join(',')).join(' or ')}}`;
    case 'time':
      return `_time:${printTimeRange(filter)}`;
    case 'time-relative': {
      if (filter.duration === undefined) return `_time:>${printDuration(filter.offset)}`;
      const offset = filter.offset === 0n ? '' : ` offset ${printDuration(filter.offset)}`;
      return `_time:${printDuration(filter.duration)}${offset}`;
    }
    case 'field':
      return `${printFieldOf(filter.field)}:${printTest(filter.test)}`;
  }
}

function printInside(filter: LogsqlFilter, parentheses: boolean): string {
  return parentheses ? `(${printFilter(filter)})` : printFilter(filter);
}

function printFieldOf(field: FieldRef): string {
  if (field.kind === 'name') return quoteName(field.name);
  return field.prefix === '' ? '*' : `${quoteName(field.prefix)}*`;
}

function printMatcher(matcher: StreamMatcher): string {
  const label = quoteName(matcher.label);
  switch (matcher.kind) {
    case 'value':
      return `${label}${matcher.op}${quoteText(matcher.value)}`;
    case 'list':
      return `${label} ${matcher.op} (${printList(matcher.values)})`;
  }
}

// With 9 digits a bound is one exact nanosecond, whatever its magnitude; bare numbers are guessed to be s, ms, us or ns.
function printTimeRange(filter: TimeFilter): string {
  const { min, max } = filter;
  if (min !== undefined && max !== undefined) return `[${formatTime(min, 9)},${formatTime(max, 9)}]`;
  if (min !== undefined) return `>=${formatTime(min, 9)}`;
  // The bounds of a 64-bit clock stand for "no bound"; VictoriaLogs has no other way to say it.
  return `<=${formatTime(max ?? 9223372036854775807n, 9)}`;
}

// VictoriaLogs takes in("*") for "any value", even between quotes; the doubled value keeps its plain meaning.
function printList(values: readonly string[]): string {
  const shown = values.length === 1 && values[0] === '*' ? ['*', '*'] : values;
  return shown.map(quoteText).join(',');
}

/** Prints what follows the colon of a field filter. */
function printTest(test: ValueTest): string {
  switch (test.kind) {
    case 'phrase':
      return quoteText(test.text);
    case 'prefix':
      return test.text === '' ? '*' : `${quoteText(test.text)}*`;
    case 'exact':
      return `=${quoteText(test.text)}`;
    case 'exact-prefix':
      return `=${quoteText(test.text)}*`;
    case 'substring':
      return `*${quoteText(test.text)}*`;
    case 'regexp':
      return `~${quoteText(test.pattern)}`;
    case 'in':
      return `in(${printList(test.values)})`;
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
    case 'compare':
      return `${test.op}${quoteText(test.value)}`;
    case 'range': {
      const open = test.minIncluded ? '[' : '(';
      return `range${open}${quoteText(test.min)}, ${quoteText(test.max)}${test.maxIncluded ? ']' : ')'}`;
    }
    case 'ipv4-range':
      return `ipv4_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'ipv6-range':
      return `ipv6_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'string-range':
      return `string_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'len-range':
      return `len_range(${test.min}, ${test.max ?? 'inf'})`;
    case 'value-type':
      return `value_type(${quoteText(test.type)})`;
    case 'eq-field':
      return `eq_field(${quoteText(test.other)})`;
    case 'lt-field':
      return `lt_field(${quoteText(test.other)})`;
    case 'le-field':
      return `le_field(${quoteText(test.other)})`;
    case 'pattern': {
      const suffix = test.where === 'any' ? '' : `_${test.where}`;
      return `pattern_match${suffix}(${quoteText(test.pattern)})`;
    }
  }
}
