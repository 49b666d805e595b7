import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, StreamMatcher } from '../../../victoria/logsql/ast.js';
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
import type { MemoryAccount } from '../../../base/memory/account.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import { columnOf, type Upstream, type BackendRow } from '../../../victoria/upstream/types.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { streamsWithSameLabels } from './stream-listing.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { Repeats } from '../rows.js';

export interface DuplicatesRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly memory: MemoryAccount;
  readonly filter: LogsqlFilter;
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly streamsWithSharedTimes: ReadonlySet<string>;
  readonly range: TimeRange;
  /** By `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  /** Fields to read in addition to time, stream and line. */
  readonly fields: readonly string[];
}

const maxTimes = 2000;
const timesPerCall = 100;
const maxNamedStreams = 50;

/**
 * Finds the surplus rows of lines that were pushed to a stream more than once at the same time.
 *
 * Rows with distinct times are distinct, which needs no lines to be read. Streams where that is not certain are checked for distinct pairs
 * of time and line, and only the remaining ones are searched row by row. Counting by hash may find too few distinct pairs, which only costs
 * a search, but never too many.
 */
export async function duplicateRows(request: DuplicatesRequest): Promise<readonly BackendRow[] | Declined> {
  const { streams } = request;
  const sameLabelStreams = await atPace(streamsWithSameLabels(streams), new Pacer());
  const { streamsWithSharedTimes: byTime } = request;
  const candidates = new Set([...byTime, ...sameLabelStreams]);
  if (candidates.size === 0) return [];
  const narrowed = and(request.filter, streamsFilter(candidates, streams));
  const byLine = byTime.size === 0 ? [] : await withRepeats(request, narrowed);
  const repeatsAcrossStreams = sameLabelStreams.size > 0 && (await hasRepeats(request, sameLabelStreams));
  const streamsWithRepeats = new Set([...byLine, ...(repeatsAcrossStreams ? sameLabelStreams : [])]);
  if (streamsWithRepeats.size === 0) return [];
  const filter = and(request.filter, streamsFilter(streamsWithRepeats, streams));
  const times = await repeatedTimes(request, filter);
  if (isDeclined(times)) return times;
  const duplicates: BackendRow[] = [];
  for (let at = 0; at < times.length; at += timesPerCall) {
    duplicates.push(...(await repeatedRows(request, filter, times.slice(at, at + timesPerCall))));
  }
  return duplicates;
}

/** The streams in which rows share time and line. */
async function withRepeats(
  { upstream, range }: DuplicatesRequest,
  filter: LogsqlFilter,
): Promise<ReadonlySet<string>> {
  const counting = stats(
    ['_stream'],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time', '_msg'], 'different'),
  );
  const found = new Set<string>();
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range })) {
    for (const row of batch)
      if (columnOf(row, 'rows') !== columnOf(row, 'different')) found.add(row._stream ?? '{}');
  }
  return found;
}

/** Whether rows of any of these streams share time and line. */
async function hasRepeats(
  { upstream, range, filter, streams }: DuplicatesRequest,
  wanted: ReadonlySet<string>,
): Promise<boolean> {
  const counting = stats(
    [],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time', '_msg'], 'different'),
  );
  const narrowed = and(filter, streamsFilter(wanted, streams));
  const values = await upstream.stats({ query: query(narrowed, [counting]), range });
  return new Set(values.map(({ value }) => value)).size > 1;
}

/** The times at which a line occurs more than once, in whatever stream: a false match only costs a search. */
async function repeatedTimes(
  { upstream, range }: DuplicatesRequest,
  filter: LogsqlFilter,
): Promise<readonly bigint[] | Declined> {
  const pipes = [
    stats(['_time', '_msg'], statsFunction('count', [], 'rows')),
    where(compare('rows', '>', '1')),
    fields('_time'),
    limit(maxTimes + 1),
  ];
  const times: bigint[] = [];
  for await (const batch of upstream.rows({ query: query(filter, pipes), range })) {
    for (const row of batch) times.push(parseRowTime(row._time ?? ''));
  }
  return times.length > maxTimes ? decline('too-many-repeats') : [...new Set(times)];
}

async function repeatedRows(
  { upstream, reader, memory, range, fields: wanted }: DuplicatesRequest,
  filter: LogsqlFilter,
  times: readonly bigint[],
): Promise<readonly BackendRow[]> {
  const moments = or(...times.map((at): LogsqlFilter => ({ kind: 'time', min: at, max: at })));
  const pipes = [fields('_time', '_stream', '_msg', ...wanted)];
  const repeats = new Repeats(memory);
  const duplicates: BackendRow[] = [];
  for await (const batch of upstream.rows({ query: query(and(filter, moments), pipes), range })) {
    for (const row of batch) if (repeats.isRepeated(reader.read(row))) duplicates.push(row);
  }
  return duplicates;
}

/** Matches all rows of these streams, and possibly more. */
function streamsFilter(
  texts: ReadonlySet<string>,
  streams: ReadonlyMap<string, StreamIdentity>,
): LogsqlFilter {
  if (texts.size > maxNamedStreams) return and();
  const groups = [...texts].map((text): readonly StreamMatcher[] =>
    [...(streams.get(text)?.fields ?? [])].map(([name, value]) => matcher(name, '=', value)),
  );
  return groups.some(({ length }) => length === 0) ? and() : { kind: 'stream', groups };
}
