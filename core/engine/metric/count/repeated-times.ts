import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, StreamMatcher } from '../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  fields,
  limit,
  matcher,
  or,
  query,
  stats,
  statsFunction,
  where,
} from '../../../victoria/logsql/build.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { columnOf, type BackendRow, type Upstream } from '../../../victoria/upstream/types.js';
import type { Run } from './stretches.js';

/** The most times that are named; where lines repeat at more, they are read. */
export const maxTimes = 2000;
const maxNamedStreams = 50;

/** The rows to look at. */
interface Looked {
  readonly upstream: Upstream;
  readonly range: TimeRange;
  readonly filter: LogsqlFilter;
}

/** Rows that share a time with another row of their stream. */
export interface SharedTimes {
  readonly streams: ReadonlySet<string>;
  /** Whether there are so few that all of their times may be named. */
  readonly areFew: boolean;
  /** Matches all of these rows. */
  readonly where?: LogsqlFilter;
}

/** The fields of a stream, by its `_stream` text. */
type FieldsOf = (text: string) => StreamIdentity['fields'] | undefined;

/**
 * The times at which a line was pushed to one of these streams more than once, and possibly others; undefined when there are too many.
 *
 * Counting by hash may find too few distinct pairs of time and line, which only costs a search, but never too many.
 */
export async function timesOfRepeats(
  looked: Looked,
  { streams, areFew, where }: SharedTimes,
  fieldsOf: FieldsOf,
): Promise<readonly bigint[] | undefined> {
  if (streams.size === 0) return [];
  const filter = and(looked.filter, where ?? streamsFilter(streams, fieldsOf));
  // Where few rows share a time, their lines need not be compared there.
  const times = areFew ? await timesWithSeveral({ ...looked, filter }, '_stream') : undefined;
  if (times !== undefined) return times;
  const repeating = await withRepeats({ ...looked, filter });
  if (repeating.size === 0) return [];
  return repeatedTimes({ ...looked, filter: and(looked.filter, streamsFilter(repeating, fieldsOf)) });
}

/** Rows, and different pairs of time and line: of rows that repeat there are more. */
export const repeatCounts = [
  statsFunction('count', [], 'rows'),
  statsFunction('count_uniq_hash', ['_time', '_msg'], 'different'),
] as const;

/** The streams in which rows share time and line. */
async function withRepeats({ upstream, range, filter }: Looked): Promise<ReadonlySet<string>> {
  const counting = stats(['_stream'], ...repeatCounts);
  const found = new Set<string>();
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range })) {
    for (const row of batch)
      if (columnOf(row, 'rows') !== columnOf(row, 'different')) found.add(row._stream ?? '{}');
  }
  return found;
}

/** The times at which a line occurs more than once, in whatever stream: a false match only costs a search. */
export function repeatedTimes(looked: Looked): Promise<readonly bigint[] | undefined> {
  return timesWithSeveral(looked, '_msg');
}

/** The times at which several rows have the same value in a column; undefined when there are too many. */
async function timesWithSeveral(
  { upstream, range, filter }: Looked,
  column: string,
): Promise<readonly bigint[] | undefined> {
  const pipes = [
    stats(['_time', column], statsFunction('count', [], 'rows')),
    where(compare('rows', '>', '1')),
    fields('_time'),
    limit(maxTimes + 1),
  ];
  const times: bigint[] = [];
  for await (const batch of upstream.rows({ query: query(filter, pipes), range })) {
    for (const row of batch) times.push(parseRowTime(row._time ?? ''));
  }
  return times.length > maxTimes ? undefined : [...new Set(times)];
}

const timesPerCall = 200;
/** A block that has none of so many times that follow one another is passed over at once. */
const timesTogether = 10;

function atTimes(times: readonly bigint[]): LogsqlFilter {
  const parts: LogsqlFilter[] = [];
  for (let at = 0; at < times.length; at += timesTogether) {
    const some = times.slice(at, at + timesTogether);
    const moments = some.map((time): LogsqlFilter => ({ kind: 'time', min: time, max: time }));
    const [min, max] = [some[0] ?? 0n, some.at(-1) ?? 0n];
    parts.push(some.length > 1 ? and({ kind: 'time', min, max }, or(...moments)) : or(...moments));
  }
  return or(...parts);
}

/** The rows at these times. */
export async function* rowsAt(
  { upstream, range, filter }: Looked,
  times: readonly bigint[],
  pipes: readonly LogsqlPipe[],
): AsyncGenerator<BackendRow> {
  const sorted = [...times].sort((a, b) => (a < b ? -1 : 1));
  for (let at = 0; at < sorted.length; at += timesPerCall) {
    const moments = atTimes(sorted.slice(at, at + timesPerCall));
    for await (const batch of upstream.rows({ query: query(and(filter, moments), pipes), range }))
      yield* batch;
  }
}

/** The most bytes of rows at the times of a stretch that are kept. */
const maxKeptBytes = 1 << 18;

/**
 * All rows at the times of each stretch, if they may be kept: undefined when they are large, or when a row differs from one with the same time
 * and line in another field, so that it depends on a filter which of them is the surplus one.
 */
export async function keptRows(
  looked: Omit<Looked, 'range'>,
  run: Run,
  times: readonly (readonly bigint[] | undefined)[],
): Promise<readonly (readonly BackendRow[] | undefined)[]> {
  const parts = times.map((known) => new KeptRows(known !== undefined));
  const all = times.flatMap((known) => known ?? []);
  for await (const row of rowsAt({ ...looked, range: run.range }, all, [])) run.of(parts, row).add(row);
  return parts.map(({ rows }) => rows);
}

/** The rows of one stretch. */
class KeptRows {
  readonly #whole = new Map<string, string>();
  #bytes = 0;
  rows: BackendRow[] | undefined;

  constructor(mayBeKept: boolean) {
    this.rows = mayBeKept ? [] : undefined;
  }

  add(row: BackendRow): void {
    if (this.rows === undefined) return;
    this.#bytes += bytesOfRow(row);
    const key = JSON.stringify([row._stream, row._time, row._msg]);
    const all = JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
    const isKept = this.#bytes <= maxKeptBytes && (this.#whole.get(key) ?? all) === all;
    this.#whole.set(key, all);
    if (isKept) this.rows.push(row);
    else this.rows = undefined;
  }
}

/** The approximate size of a row in memory. */
export function bytesOfRow(row: BackendRow): number {
  let bytes = 0;
  for (const name of Object.keys(row)) bytes += name.length + 2 * (columnOf(row, name) ?? '').length + 40;
  return bytes;
}

/** Matches all rows of these streams, and possibly more. */
export function streamsFilter(texts: ReadonlySet<string>, fieldsOf: FieldsOf): LogsqlFilter {
  if (texts.size > maxNamedStreams) return and();
  const groups = [...texts].map((text): readonly StreamMatcher[] =>
    [...(fieldsOf(text) ?? [])].map(([name, value]) => matcher(name, '=', value)),
  );
  return groups.some(({ length }) => length === 0) ? and() : { kind: 'stream', groups };
}
