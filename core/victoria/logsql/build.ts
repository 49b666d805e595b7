import { cidrRange } from '../../base/ip.js';
import type { TimeRange } from '../../base/time/range.js';
import type {
  ExtractPipe,
  FieldFilter,
  FieldRef,
  FormatPipe,
  GroupKey,
  LogsqlFilter,
  LogsqlPipe,
  LogsqlQuery,
  StatsFunction,
  StatsName,
  StatsPipe,
  StreamFilter,
  StreamMatcher,
  StreamValueMatcher,
  ValueTest,
} from './ast.js';
import { LogsqlError } from './errors.js';
import { clampTime } from './literals.js';
import { printStatsCall } from './print.js';

/** Every row. */
export const everything: LogsqlFilter = { kind: 'all' };
/** No row. */
export const nothing: LogsqlFilter = { kind: 'not', filter: everything };
/** Every field, as an argument of `count` and in lists of fields. */
export const allFields: FieldRef = { kind: 'prefix', prefix: '' };

export function fieldName(name: string): FieldRef {
  return { kind: 'name', name };
}

/** True when a list of fields includes a name. */
export function isListed(fields: readonly FieldRef[], name: string): boolean {
  return fields.some((field) =>
    field.kind === 'name' ? field.name === name : name.startsWith(field.prefix),
  );
}

/**
 * Intersection of the filters. Drops those that match everything, flattens nested ones, and returns a single filter as it is. Lists of streams
 * come first: the backend looks up the first stream filter of a query in its index, and tests another one, which it cannot merge with the
 * first, on all blocks that this finds.
 */
export function and(...filters: readonly LogsqlFilter[]): LogsqlFilter {
  const all = filters
    .flatMap((part) => (part.kind === 'and' ? part.parts : [part]))
    .filter((part) => part.kind !== 'all');
  const parts = all.some(listsStreams)
    ? [...all.filter(listsStreams), ...all.filter((part) => !listsStreams(part))]
    : all;
  const [first = everything] = parts;
  return parts.length < 2 ? first : { kind: 'and', parts };
}

function listsStreams(filter: LogsqlFilter): boolean {
  return filter.kind === 'stream' && filter.listsStreams === true;
}

/** Union of the filters: everything if one matches everything. Drops those that match nothing, otherwise as `and`. */
export function or(...filters: readonly LogsqlFilter[]): LogsqlFilter {
  const parts = filters
    .flatMap((part) => (part.kind === 'or' ? part.parts : [part]))
    .filter((part) => part.kind !== 'not' || part.filter.kind !== 'all');
  const [first = nothing] = parts;
  if (parts.some((part) => part.kind === 'all')) return everything;
  return parts.length < 2 ? first : { kind: 'or', parts };
}

export function not(filter: LogsqlFilter): LogsqlFilter {
  return filter.kind === 'not' ? filter.filter : { kind: 'not', filter };
}

/** Matches the rows of known streams, each given by matchers of its labels. */
export function streamList(groups: StreamFilter['groups']): StreamFilter {
  return { kind: 'stream', groups, listsStreams: true };
}

/** A stream selector `{...}` whose matchers must all match. */
export function streamMatch(...matchers: readonly StreamMatcher[]): StreamFilter {
  return { kind: 'stream', groups: [matchers] };
}

export function matcher(label: string, op: StreamValueMatcher['op'], value: string): StreamMatcher {
  return { kind: 'value', label, op, value };
}

export function field(name: string, test: ValueTest): FieldFilter {
  return { kind: 'field', field: fieldName(name), test };
}

/** The value equals the text; the empty text means a missing value. */
export function exact(name: string, text: string): FieldFilter {
  return field(name, { kind: 'exact', text });
}

export function oneOf(name: string, values: readonly string[]): FieldFilter {
  return field(name, { kind: 'in', values: [...new Set(values)] });
}

/** The value contains the text, regardless of word boundaries. */
export function substring(name: string, text: string): FieldFilter {
  return field(
    name,
    isPartOfNumber(name, text) ? { kind: 'regexp', pattern: text } : { kind: 'substring', text },
  );
}

/**
 * True if the backend may not find the text as a substring in numeric columns: it finds no `03` in 303, and no 7 if all values are
 * negative.
 */
function isPartOfNumber(name: string, text: string): boolean {
  return /^0\d+$/.test(text) || (name !== '_msg' && /^-?\d+$/.test(text));
}

/** The value contains a match of the RE2 pattern; `.` matches line feeds unless the pattern says `(?-s)`. */
export function regexp(name: string, pattern: string): FieldFilter {
  return field(name, { kind: 'regexp', pattern });
}

/** The text occurs between word boundaries in the field. */
export function phrase(name: string, text: string): FieldFilter {
  return field(name, { kind: 'phrase', text });
}

/** The field has a value. */
export function present(name: string): FieldFilter {
  return field(name, { kind: 'prefix', text: '' });
}

/** As `present`, for the condition of a pipe, where prefixes and regular expressions match no value of a column of integers. */
export function isSet(name: string): LogsqlFilter {
  return not(exact(name, ''));
}

/** The types that VictoriaLogs gives to blocks of a column in which every value is an integer. */
export const integerTypes = ['uint8', 'uint16', 'uint32', 'uint64', 'int64'];

/** Matches rows in blocks that store a column as one of these types. */
export function ofTypes(name: string, types: readonly string[]): LogsqlFilter {
  return or(...types.map((type) => field(name, { kind: 'value-type', type })));
}

/** Compares numerically when both values are numbers, otherwise as text. */
export function compare(name: string, op: '>' | '>=' | '<' | '<=', value: string): FieldFilter {
  return field(name, { kind: 'compare', op, value });
}

/**
 * The value is an IPv4 address of the network `10.0.0.0/8`, equal to a single address, or between two addresses.
 * @throws LogsqlError for an invalid network
 */
export function ipv4Range(name: string, network: string, to?: string): FieldFilter {
  const range = cidrRange('ipv4', network, to);
  if (range === undefined)
    throw new LogsqlError(`cannot parse IPv4 address or IPv4 CIDR "${network}" at ipv4_range()`);
  return field(name, { kind: 'ipv4-range', ...range });
}

/** Rows of a range. */
export function timeRange({ startNs, endNs }: TimeRange): LogsqlFilter {
  return { kind: 'time', min: clampTime(startNs), max: clampTime(endNs - 1n) };
}

export function query(filter: LogsqlFilter, pipes: readonly LogsqlPipe[] = []): LogsqlQuery {
  return { filter: cheapestFirst(filter), pipes };
}

/** The backend tests the filters of an intersection in their order, and does not read values of rows that an earlier one has excluded. */
function cheapestFirst(filter: LogsqlFilter): LogsqlFilter {
  if (filter.kind !== 'and') return filter;
  const ranked = filter.parts.map((part) => ({ part, effort: effortOf(part) }));
  return { kind: 'and', parts: ranked.sort((a, b) => a.effort - b.effort).map(({ part }) => part) };
}

/** The reading that a filter costs the backend: 0 for nothing but its index, 1 for fields, 2 for lines, which are the longest of a row. */
function effortOf(filter: LogsqlFilter): number {
  switch (filter.kind) {
    case 'all':
    case 'stream':
    case 'time':
    case 'time-relative':
      return 0;
    case 'not':
      return effortOf(filter.filter);
    case 'and':
    case 'or':
      return Math.max(...filter.parts.map(effortOf));
    case 'field':
      return filter.field.kind === 'name' && filter.field.name !== '_msg' ? 1 : 2;
  }
}

/** `stats by (keys) functions`; a key may be a plain field name. */
export function stats(by: readonly (string | GroupKey)[], ...functions: readonly StatsFunction[]): StatsPipe {
  return { kind: 'stats', by: by.map((key) => (typeof key === 'string' ? { field: key } : key)), functions };
}

/**
 * A name for a result of `stats` or another computed column. VictoriaLogs rejects a result with the name of a group key, and keys may be
 * names from a client's data, so underscores are appended until the name is not taken.
 */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  while (taken.includes(free)) free += '_';
  return free;
}

/** Extracts texts between the literal texts of a pattern into columns. */
export function extract(from: string, pattern: string): ExtractPipe {
  return { kind: 'extract', pattern, from };
}

/** `extract_regexp`, in which `.` matches a line feed. */
export function extractRegexp(from: string, pattern: string): ExtractPipe {
  return { kind: 'extract_regexp', pattern, from };
}

/**
 * Writes a text with `<columns>` into a column of all rows, or of those that match the condition.
 * @param condition applies to the columns that earlier pipes wrote, too
 */
export function formatInto(as: string, pattern: string, condition?: LogsqlFilter): FormatPipe {
  return { kind: 'format', pattern, as, ...(condition === undefined ? {} : { condition }) };
}

/** `copy a as b, c as d`. */
export function copy(pairs: readonly (readonly [from: string, to: string])[]): LogsqlPipe {
  return { kind: 'copy', pairs: pairs.map(([from, to]) => ({ from: fieldName(from), to: fieldName(to) })) };
}

/** A literal text in a pattern of `extract` or `format`, in which VictoriaLogs decodes HTML entities. */
export function literalText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A group key of `_time` buckets `[k*step - offset, (k+1)*step - offset)`, nanoseconds. */
export function timeBucket(step: bigint, offset = 0n): GroupKey {
  const size = `${step.toString()}ns`;
  return { field: '_time', bucket: offset === 0n ? { size } : { size, offset: `${offset.toString()}ns` } };
}

/** One result column of `stats`. Without fields it covers all fields; without a name it gets VictoriaLogs' default. */
export function statsFunction(name: StatsName, fields: readonly string[], as?: string): StatsFunction {
  const call = { name, fields: fields.length === 0 ? [allFields] : fields.map(fieldName) };
  return { ...call, as: as ?? printStatsCall(call) };
}

const summaries = { total: 'sum', least: 'min', greatest: 'max' } as const;

/** The sum of the numbers in a column, or the least or greatest of them. */
export function summaryFunction(of: keyof typeof summaries, field: string, as: string): StatsFunction {
  return statsFunction(summaries[of], [field], as);
}

/** `fields a, b, c`. */
export function fields(...names: readonly string[]): LogsqlPipe {
  return { kind: 'fields', fields: names.map(fieldName) };
}

/** `sort by (_time) limit n`, or `sort by (_time desc) limit n`. */
export function sortByTime(limit: number, desc = false): LogsqlPipe {
  return { kind: 'sort', desc, limit };
}

/** `limit n`. */
export function limit(count: number): LogsqlPipe {
  return { kind: 'limit', count };
}

/** `filter f`. */
export function where(filter: LogsqlFilter): LogsqlPipe {
  return { kind: 'filter', filter };
}

/** `union (q)`; other pipes come before it. */
export function union(other: LogsqlQuery): LogsqlPipe {
  return { kind: 'union', query: other };
}

/**
 * The queries that a query unites, in order: the query itself, and those of its `union` pipes.
 * @throws LogsqlError for a pipe that would process the rows of several queries
 */
export function united<Asked extends Pick<LogsqlQuery, 'pipes'>>(
  asked: Asked,
): readonly (Asked | LogsqlQuery)[] {
  const at = asked.pipes.findIndex(({ kind }) => kind === 'union');
  if (at < 0) return [asked];
  const others = asked.pipes.slice(at).flatMap((pipe) => {
    if (pipe.kind !== 'union') throw new LogsqlError(`'${pipe.kind}' cannot follow 'union' here`);
    return united(pipe.query);
  });
  return [{ ...asked, pipes: asked.pipes.slice(0, at) }, ...others];
}

/** The part of a filter that selects streams; it matches all rows of the filter. */
export function selectionOf(filter: LogsqlFilter): LogsqlFilter {
  if (isOfStreams(filter)) return filter;
  const parts = filter.kind === 'and' ? filter.parts.filter(isOfStreams) : [];
  const [first = everything] = parts;
  return parts.length > 1 ? { kind: 'and', parts } : first;
}

/** True if a filter only depends on stream labels, so that it matches all rows of a stream or none. */
export function isOfStreams(filter: LogsqlFilter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'stream':
      return true;
    case 'and':
    case 'or':
      return filter.parts.every(isOfStreams);
    case 'not':
      return isOfStreams(filter.filter);
    case 'time':
    case 'time-relative':
    case 'field':
      return false;
  }
}
