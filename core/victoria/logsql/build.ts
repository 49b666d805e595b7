import type {
  FieldRef,
  GroupKey,
  LogsqlFilter,
  LogsqlPipe,
  LogsqlQuery,
  QueryOptions,
  SortKey,
  StatsFunction,
  StatsName,
} from './ast.js';
import type { FieldFilter, StreamFilter, StreamMatcher, StreamValueMatcher, ValueTest } from './ast.js';
import { LogsqlError } from './errors.js';
import { cidrRange } from '../../base/ip.js';
import { clampTime } from './time.js';
import { printStatsCall } from './print.js';

/** Every row. */
export const everything: LogsqlFilter = { kind: 'all' };
/** No row. */
export const nothing: LogsqlFilter = { kind: 'not', filter: everything };
/** Every field, as an argument of `count` and of lists of fields. */
export const allFields: FieldRef = { kind: 'prefix', prefix: '' };

/** A field by its exact name. */
export function fieldName(name: string): FieldRef {
  return { kind: 'name', name };
}

/** All of the filters; drops those that match everything, joins nested ones, and collapses to the one that is left. */
export function and(...filters: readonly LogsqlFilter[]): LogsqlFilter {
  const parts = filters
    .flatMap((part) => (part.kind === 'and' ? part.parts : [part]))
    .filter((part) => part.kind !== 'all');
  const [first = everything] = parts;
  return parts.length < 2 ? first : { kind: 'and', parts };
}

/** One of the filters; nothing when there are none, everything when one matches everything. */
export function or(...filters: readonly LogsqlFilter[]): LogsqlFilter {
  const parts = filters.flatMap((part) => (part.kind === 'or' ? part.parts : [part]));
  const [first = nothing] = parts;
  if (parts.some((part) => part.kind === 'all')) return everything;
  return parts.length < 2 ? first : { kind: 'or', parts };
}

/** The rows that the filter leaves out. */
export function not(filter: LogsqlFilter): LogsqlFilter {
  return filter.kind === 'not' ? filter.filter : { kind: 'not', filter };
}

/** A stream selector `{...}` of which all matchers must match. */
export function streamMatch(...matchers: readonly StreamMatcher[]): StreamFilter {
  return { kind: 'stream', groups: [matchers] };
}

/** One matcher of a stream selector. */
export function matcher(label: string, op: StreamValueMatcher['op'], value: string): StreamMatcher {
  return { kind: 'value', label, op, value };
}

/** Any test on a field. */
export function field(name: string, test: ValueTest): FieldFilter {
  return { kind: 'field', field: fieldName(name), test };
}

/** The value equals the text; the empty text means missing. */
export function exact(name: string, text: string): FieldFilter {
  return field(name, { kind: 'exact', text });
}

/** The value is one of the texts. */
export function oneOf(name: string, values: readonly string[]): FieldFilter {
  return field(name, { kind: 'in', values: [...new Set(values)] });
}

/** The value contains the text, case and borders of words aside. */
export function substring(name: string, text: string): FieldFilter {
  return field(name, { kind: 'substring', text });
}

/** The value contains a match of the RE2 pattern; `.` matches line feeds unless the pattern says `(?-s)`. */
export function regexp(name: string, pattern: string): FieldFilter {
  return field(name, { kind: 'regexp', pattern });
}

/** The value stands between borders of words in the field. */
export function phrase(name: string, text: string): FieldFilter {
  return field(name, { kind: 'phrase', text });
}

/** The field has a value. */
export function present(name: string): FieldFilter {
  return field(name, { kind: 'prefix', text: '' });
}

/** The value compares to the given one as a number when both are numbers, else as text. */
export function compare(name: string, op: '>' | '>=' | '<' | '<=', value: string): FieldFilter {
  return field(name, { kind: 'compare', op, value });
}

/**
 * The value is an IPv4 address of the network, `10.0.0.0/8` or a single address, or between two addresses.
 * @throws LogsqlError when the text is no network
 */
export function ipv4Range(name: string, network: string, to?: string): FieldFilter {
  const range = cidrRange('ipv4', network, to);
  if (range === undefined)
    throw new LogsqlError(`cannot parse IPv4 address or IPv4 CIDR "${network}" at ipv4_range()`);
  return field(name, { kind: 'ipv4-range', ...range });
}

/**
 * The value is an IPv6 address (or an IPv4 address mapped into IPv6) of the network or between two addresses.
 * @throws LogsqlError when the text is no network
 */
export function ipv6Range(name: string, network: string, to?: string): FieldFilter {
  const range = cidrRange('ipv6', network, to);
  if (range === undefined)
    throw new LogsqlError(`cannot parse IPv6 address or IPv6 CIDR "${network}" at ipv6_range()`);
  return field(name, { kind: 'ipv6-range', ...range });
}

/** Rows of `[start, end)`, Unix nanoseconds. */
export function timeRange(start: bigint, end: bigint): LogsqlFilter {
  return { kind: 'time', min: clampTime(start), max: clampTime(end - 1n) };
}

/** A whole query. */
export function query(
  filter: LogsqlFilter,
  pipes: readonly LogsqlPipe[] = [],
  options: QueryOptions = {},
): LogsqlQuery {
  return { options, filter, pipes };
}

/** `stats by (keys) functions`; a key may be a plain field name. */
export function stats(
  by: readonly (string | GroupKey)[],
  ...functions: readonly StatsFunction[]
): LogsqlPipe {
  return { kind: 'stats', by: by.map((key) => (typeof key === 'string' ? { field: key } : key)), functions };
}

/** A group key that puts `_time` into buckets `[k*step - offset, (k+1)*step - offset)`, nanoseconds. */
export function timeBucket(step: bigint, offset = 0n): GroupKey {
  const size = `${step.toString()}ns`;
  return { field: '_time', bucket: offset === 0n ? { size } : { size, offset: `${offset.toString()}ns` } };
}

/** One result column of `stats`; without fields over all of them, without a name called as VictoriaLogs calls it. */
export function statsFunction(name: StatsName, fields: readonly string[], as?: string): StatsFunction {
  const call = { name, fields: fields.length === 0 && name !== 'rate' ? [allFields] : fields.map(fieldName) };
  return { ...call, as: as ?? printStatsCall(call) };
}

/** `fields a, b, c`. */
export function fields(...names: readonly string[]): LogsqlPipe {
  return { kind: 'fields', fields: names.map(fieldName) };
}

/** `sort by (...)`; a key may be a plain field name. */
export function sort(by: readonly (string | SortKey)[], limit?: number): LogsqlPipe {
  const keys = by.map((key) => (typeof key === 'string' ? { field: key, desc: false } : key));
  return { kind: 'sort', by: keys, desc: false, partitionBy: [], ...(limit === undefined ? {} : { limit }) };
}

/** `limit n`. */
export function limit(count: number): LogsqlPipe {
  return { kind: 'limit', count };
}

/** `filter f`. */
export function where(filter: LogsqlFilter): LogsqlPipe {
  return { kind: 'filter', filter };
}
