import type {
  FieldRef,
  GroupKey,
  LogsqlFilter,
  LogsqlPipe,
  LogsqlQuery,
  StatsFunction,
  StreamMatcher,
  TimeFilter,
  ValueTest,
} from './ast.js';
import { printMath } from './print-math.js';
import { formatTime, printNanoseconds, quoteListed, quoteName, quoteSize, quoteText } from './literals.js';

/** Prints a query; parsing the text gives the same tree. */
export function printQuery({ filter, pipes }: LogsqlQuery): string {
  return [printFilter(filter), ...pipes.map(printPipe)].join(' | ');
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
export function printList(values: readonly string[]): string {
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
    case 'compare':
      return `${test.op}${quoteText(test.value)}`;
    case 'ipv4-range':
      return `ipv4_range(${quoteText(test.from)},${quoteText(test.to)})`;
    case 'value-type':
      return `value_type(${quoteText(test.type)})`;
    case 'lt-field':
      return `lt_field(${quoteText(test.other)})`;
    case 'own':
      return test.print();
  }
}

/** Prints one pipe, without the leading bar. */
export function printPipe(pipe: LogsqlPipe): string {
  switch (pipe.kind) {
    case 'fields':
      return `fields ${pipe.fields.map(quoteListed).join(', ')}`;
    case 'copy':
    case 'rename':
      return `${pipe.kind} ${pipe.pairs.map((pair) => `${quoteListed(pair.from)} as ${quoteListed(pair.to)}`).join(', ')}`;
    case 'sort':
      return `sort by (_time${pipe.desc ? ' desc' : ''}) limit ${pipe.limit}`;
    case 'limit':
      return `limit ${pipe.count}`;
    case 'stats':
      return printStats(pipe, printStatsCall);
    case 'uniq': {
      const limit = pipe.limit === undefined ? '' : ` limit ${pipe.limit}`;
      return `uniq by (${printNames(pipe.by)})${pipe.hits ? ' with hits' : ''}${limit}`;
    }
    case 'filter':
      return `filter ${printFilter(pipe.filter)}`;
    case 'math':
      return `math ${pipe.entries.map((entry) => `${printMath(entry.expr)} as ${pipeName(entry.as)}`).join(', ')}`;
    case 'format':
      return `format${printIf(pipe.condition)} ${quoteText(pipe.pattern)} as ${pipeName(pipe.as)}`;
    case 'extract':
    case 'extract_regexp':
      return `${pipe.kind}${printIf(pipe.condition)} ${quoteText(pipe.pattern)} from ${pipeName(pipe.from)}`;
    case 'unpack_json': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      const prefix = pipe.prefix === '' ? '' : ` result_prefix ${quoteText(pipe.prefix)}`;
      return `unpack_json${printIf(pipe.condition)} from ${pipeName(pipe.from)}${fields}${prefix}`;
    }
    case 'replace': {
      const pair = `(${quoteText(pipe.old)}, ${quoteText(pipe.replacement)})`;
      return `replace${printIf(pipe.condition)} ${pair} at ${pipeName(pipe.at)}`;
    }
    case 'pack_json': {
      const fields = pipe.fields.length === 0 ? '' : ` fields (${pipe.fields.map(quoteListed).join(', ')})`;
      return `pack_json${fields} as ${pipeName(pipe.as)}`;
    }
    case 'field_names':
      return `field_names as ${pipeName(pipe.as)}`;
    case 'union':
      return `union (${printQuery(pipe.query)})`;
  }
}

// In pipes, a name that ends with "*" would be parsed as a prefix, so all names are printed as list items, which reject it.
export function pipeName(name: string): string {
  return quoteListed({ kind: 'name', name });
}

export function printNames(names: readonly string[]): string {
  return names.map(quoteName).join(', ');
}

function printGroupKey(key: GroupKey): string {
  const field = pipeName(key.field);
  if (key.bucket === undefined) return field;
  const offset = key.bucket.offset === undefined ? '' : ` offset ${quoteSize(key.bucket.offset)}`;
  return `${field}:${quoteSize(key.bucket.size)}${offset}`;
}

export function printIf(condition: LogsqlFilter | undefined): string {
  return condition === undefined ? '' : ` if (${printFilter(condition)})`;
}

/** Prints a pipe of statistics. */
export function printStats<Function extends Pick<StatsFunction, 'as'>>(
  {
    kind,
    by,
    functions,
  }: { readonly kind: string; readonly by: readonly GroupKey[]; readonly functions: readonly Function[] },
  printCall: (func: Function) => string,
): string {
  const keys = by.length === 0 ? '' : `by (${by.map(printGroupKey).join(', ')}) `;
  return `${kind} ${keys}${functions.map((func) => `${printCall(func)} as ${pipeName(func.as)}`).join(', ')}`;
}

/** Prints a `stats` function without its result name; this text is also that name's default. */
export function printStatsCall({ name, fields, limit, condition }: Omit<StatsFunction, 'as'>): string {
  const cut = limit === undefined ? '' : ` limit ${limit}`;
  return `${name}(${fields.map(quoteListed).join(', ')})${cut}${printIf(condition)}`;
}
