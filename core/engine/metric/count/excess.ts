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
import type { Upstream } from '../../../victoria/upstream/types.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { twinStreams } from './inventory.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { Repeats } from '../rows.js';

export interface ExcessRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly memory: MemoryAccount;
  readonly filter: LogsqlFilter;
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly suspects: ReadonlySet<string>;
  readonly range: TimeRange;
  /** By `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  /** Fields of rows that are wanted beside time, stream and line. */
  readonly fields: readonly string[];
}

const maxTimes = 2000;
const timesPerCall = 100;
const maxNamedStreams = 50;

/**
 * The rows that are one too many because the same line was pushed to a stream at the same time before.
 *
 * Different times prove that rows differ, without any line being read; streams where that is not enough are asked for different
 * pairs of time and line; and only what is left is looked for in rows. Counting hashes may find too few different ones, which
 * costs a look, but never too many.
 */
export async function excessRows(request: ExcessRequest): Promise<readonly BackendRow[] | Declined> {
  const { streams } = request;
  const twins = await atPace(twinStreams(streams), new Pacer());
  const { suspects: byTime } = request;
  const suspects = new Set([...byTime, ...twins]);
  if (suspects.size === 0) return [];
  const narrowed = and(request.filter, streamsFilter(suspects, streams));
  const byLine = byTime.size === 0 ? [] : await withRepeats(request, narrowed);
  const isTwinned = twins.size > 0 && (await hasRepeats(request, twins));
  const guilty = new Set([...byLine, ...(isTwinned ? twins : [])]);
  if (guilty.size === 0) return [];
  const filter = and(request.filter, streamsFilter(guilty, streams));
  const times = await repeatedTimes(request, filter);
  if (isDeclined(times)) return times;
  const excess: BackendRow[] = [];
  for (let at = 0; at < times.length; at += timesPerCall) {
    excess.push(...(await repeatedRows(request, filter, times.slice(at, at + timesPerCall))));
  }
  return excess;
}

/** The streams in which rows share time and line. */
async function withRepeats(
  { upstream, range }: ExcessRequest,
  filter: LogsqlFilter,
): Promise<ReadonlySet<string>> {
  const counting = stats(
    ['_stream'],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time', '_msg'], 'different'),
  );
  const found = new Set<string>();
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range })) {
    for (const row of batch) if (row['rows'] !== row['different']) found.add(row['_stream'] ?? '{}');
  }
  return found;
}

/** Whether rows of any of these streams share time and line. */
async function hasRepeats(
  { upstream, range, filter, streams }: ExcessRequest,
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

/** The times at which a line occurs more than once; in whatever stream, which only costs a look. */
async function repeatedTimes(
  { upstream, range }: ExcessRequest,
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
    for (const row of batch) times.push(parseRowTime(row['_time'] ?? ''));
  }
  return times.length > maxTimes ? decline('too-many-repeats') : [...new Set(times)];
}

async function repeatedRows(
  { upstream, reader, memory, range, fields: wanted }: ExcessRequest,
  filter: LogsqlFilter,
  times: readonly bigint[],
): Promise<readonly BackendRow[]> {
  const moments = or(...times.map((at): LogsqlFilter => ({ kind: 'time', min: at, max: at })));
  const pipes = [fields('_time', '_stream', '_msg', ...wanted)];
  const repeats = new Repeats(memory);
  const excess: BackendRow[] = [];
  for await (const batch of upstream.rows({ query: query(and(filter, moments), pipes), range })) {
    for (const row of batch) if (repeats.isRepeated(reader.read(row))) excess.push(row);
  }
  return excess;
}

/** Rows of these streams and perhaps more. */
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
