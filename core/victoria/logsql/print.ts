import type {
  FieldRef,
  GroupKey,
  LogsqlFilter,
  LogsqlPipe,
  LogsqlQuery,
  QueryOptions,
  SortKey,
  StatsFunction,
  StreamMatcher,
  TimeFilter,
  UpdateRules,
  ValueTest,
} from './ast.js';
import { printMath } from './print-math.js';
import { formatTime, printNanoseconds, quoteListed, quoteName, quoteSize, quoteText } from './literals.js';

/** Prints a query; parsing the text gives the same tree. */
export function printQuery(query: LogsqlQuery): string {
  return printParts(query, printFilter(query.filter));
}

// A query inside in() that starts like a list of values would be parsed as one; no list starts with a parenthesis.
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
  if (options.timeOffset !== undefined) parts.push(`time_offset=${printNanoseconds(options.timeOffset)}`);
  return parts.length === 0 ? '' : `options(${parts.join(', ')})`;
}

/** Printed filters, since a filter is printed several times per request: for each call, and in cache keys. */
const texts = new WeakMap<LogsqlFilter, string>();

export function printFilter(filter: LogsqlFilter): string {
  const known = texts.get(filter);
  if (known !== undefined) return known;
  const text = printUncached(filter);
  texts.set(filter, text);
  return text;
}

function printUncached(filter: LogsqlFilter): string {
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
      if (filter.duration === undefined) return `_time:>${printNanoseconds(filter.offset)}`;
      const offset = filter.offset === 0n ? '' : ` offset ${printNanoseconds(filter.offset)}`;
      return `_time:${printNanoseconds(filter.duration)}${offset}`;
    }
    case 'field':
      return `${printFieldOf(filter.field)}:${printTest(filter.test)}`;
  }
}

function printInside(filter: LogsqlFilter, parentheses: boolean): string {
  return parentheses ? `(${printUncached(filter)})` : printUncached(filter);
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

// With 9 digits a bound is an exact nanosecond, whatever its size; the unit of bare numbers is guessed.
function printTimeRange(filter: TimeFilter): string {
  const { min, max } = filter;
  if (min !== undefined && max !== undefined) return `[${formatTime(min, 9)},${formatTime(max, 9)}]`;
  if (min !== undefined) return `>=${formatTime(min, 9)}`;
  // The limits of a 64-bit clock mean "no bound"; VictoriaLogs has no other way to write it.
  return `<=${formatTime(max ?? 9223372036854775807n, 9)}`;
}

// VictoriaLogs takes in("*") as "any value", even quoted; doubling the value keeps it literal.
function printList(values: readonly string[]): string {
  const shown = values.length === 1 && values[0] === '*' ? ['*', '*'] : values;
  return shown.map(quoteText).join(',');
}

/** Prints the part of a field filter after the colon. */
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

/** Prints one pipe, without the leading bar. */
export function printPipe(pipe: LogsqlPipe): string {
  switch (pipe.kind) {
    case 'fields':
    case 'delete':
      return `${pipe.kind} ${pipe.fields.map(quoteListed).join(', ')}`;
    case 'copy':
    case 'rename':
      return `${pipe.kind} ${pipe.pairs.map((pair) => `${quoteListed(pair.from)} as ${quoteListed(pair.to)}`).join(', ')}`;
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
    case 'limit':
    case 'offset':
      return `${pipe.kind} ${pipe.count}`;
    case 'stats':
    case 'running_stats':
    case 'total_stats': {
      const by = pipe.by.length === 0 ? '' : `by (${pipe.by.map(printGroupKey).join(', ')}) `;
      return `${pipe.kind} ${by}${pipe.functions.map(printStatsFunction).join(', ')}`;
    }
    case 'uniq': {
      const limit = pipe.limit === undefined ? '' : ` limit ${pipe.limit}`;
      return `uniq by (${printNames(pipe.by)})${pipe.hits ? ' with hits' : ''}${limit}`;
    }
    case 'top':
      return [
        `top ${pipe.count} by (${printNames(pipe.by)}) hits as ${pipeName(pipe.hitsAs)}`,
        ...printRank(pipe.rankAs),
      ].join(' ');
    case 'filter':
      return `filter ${printFilter(pipe.filter)}`;
    case 'math':
      return `math ${pipe.entries.map((entry) => `${printMath(entry.expr)} as ${pipeName(entry.as)}`).join(', ')}`;
    case 'format':
      return `format${printIf(pipe.condition)} ${quoteText(pipe.pattern)} as ${pipeName(pipe.as)}${printRules(pipe)}`;
    case 'extract':
    case 'extract_regexp':
      return `${pipe.kind}${printIf(pipe.condition)} ${quoteText(pipe.pattern)} from ${pipeName(pipe.from)}${printRules(pipe)}`;
    case 'unpack_json':
    case 'unpack_logfmt': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      const prefix = pipe.prefix === '' ? '' : ` result_prefix ${quoteText(pipe.prefix)}`;
      return `${pipe.kind}${printIf(pipe.condition)} from ${pipeName(pipe.from)}${fields}${prefix}${printRules(pipe)}`;
    }
    case 'replace':
    case 'replace_regexp': {
      const limit = pipe.limit === undefined ? '' : ` limit ${pipe.limit}`;
      const pair = `(${quoteText(pipe.old)}, ${quoteText(pipe.replacement)})`;
      return `${pipe.kind}${printIf(pipe.condition)} ${pair} at ${pipeName(pipe.at)}${limit}`;
    }
    case 'len':
    case 'hash':
    case 'json_array_len':
      return `${pipe.kind}(${pipeName(pipe.field)}) as ${pipeName(pipe.as)}`;
    case 'pack_json':
    case 'pack_logfmt': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      return `${pipe.kind}${fields} as ${pipeName(pipe.as)}`;
    }
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
    case 'field_names':
      return `field_names as ${pipeName(pipe.as)}`;
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
      return `union (${printQuery(pipe.query)})`;
  }
}

// In pipes, a name that ends with "*" would be parsed as a prefix, so all names are printed as list items, which reject it.
function pipeName(name: string): string {
  return quoteListed({ kind: 'name', name });
}

function printNames(names: readonly string[]): string {
  return names.map(quoteName).join(', ');
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

function printGroupKey(key: GroupKey): string {
  const field = pipeName(key.field);
  if (key.bucket === undefined) return field;
  const offset = key.bucket.offset === undefined ? '' : ` offset ${quoteSize(key.bucket.offset)}`;
  return `${field}:${quoteSize(key.bucket.size)}${offset}`;
}

function printIf(condition: LogsqlFilter | undefined): string {
  return condition === undefined ? '' : ` if (${printFilter(condition)})`;
}

function printRules(rules: UpdateRules): string {
  switch (rules.rule) {
    case 'overwrite':
      return '';
    case 'keep-original':
      return ' keep_original_fields';
    case 'skip-empty':
      return ' skip_empty_results';
  }
}

function printStatsFunction(func: StatsFunction): string {
  return `${printStatsCall(func)} as ${pipeName(func.as)}`;
}

/** Prints a `stats` function without its result name; this text is also that name's default. */
export function printStatsCall(func: Omit<StatsFunction, 'as'>): string {
  const args: string[] = [];
  if (func.phi !== undefined) args.push(func.phi.toString());
  if (func.source !== undefined) args.push(pipeName(func.source));
  args.push(...func.fields.map(quoteListed));
  const sortBy = func.sortBy === undefined ? '' : ` sort by (${printKeys(func.sortBy)})`;
  const limit = func.limit === undefined ? '' : ` limit ${func.limit}`;
  return `${func.name}(${args.join(', ')})${sortBy}${limit}${printIf(func.condition)}`;
}
