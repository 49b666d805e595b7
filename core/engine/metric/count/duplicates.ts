import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, fields, query, stats } from '../../../victoria/logsql/build.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { Upstream, BackendRow } from '../../../victoria/upstream/types.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { streamsWithSameLabels } from './stream-listing.js';
import { decline, type Declined } from '../declined.js';
import { Repeats } from '../repeats.js';
import {
  maxTimes,
  repeatCounts,
  repeatedTimes,
  rowsAt,
  streamsFilter,
  timesOfRepeats,
} from './repeated-times.js';
import type { SelectionProfile } from './profile.js';

export interface DuplicatesRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly memory: MemoryAccount;
  readonly filter: LogsqlFilter;
  /** What is known of the selection's rows. */
  readonly profile: Pick<SelectionProfile, 'streamsWithSharedTimes' | 'repeatedAt' | 'repeatedRows'>;
  readonly range: TimeRange;
  /** By `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  /** Fields to read in addition to time, stream and line. */
  readonly fields: readonly string[];
}

/**
 * Finds the surplus rows of lines that were pushed to a stream more than once at the same time, and possibly some that do not pass the filter.
 * The profile of the selection has them; where they are too many or too large it only knows the times at which rows have to be read, and streams
 * with the same labels are one stream, and are looked at anew.
 */
export async function duplicateRows(request: DuplicatesRequest): Promise<readonly BackendRow[] | Declined> {
  const sameLabelStreams = await atPace(streamsWithSameLabels(request.streams), new Pacer());
  const { repeatedRows: known } = request.profile;
  if (sameLabelStreams.size === 0 && known !== undefined) {
    const repeats = new Repeats(request.memory);
    return known.filter((row) => repeats.isRepeated(request.reader.read(row)));
  }
  const times = await timesOf(request, sameLabelStreams);
  if (times === undefined || times.length > maxTimes) return decline('too-many-repeats');
  const duplicates: BackendRow[] = [];
  const repeats = new Repeats(request.memory);
  const pipes = [fields('_time', '_stream', '_msg', ...request.fields)];
  for await (const row of rowsAt(request, times, pipes))
    if (repeats.isRepeated(request.reader.read(row))) duplicates.push(row);
  return duplicates;
}

async function timesOf(
  request: DuplicatesRequest,
  sameLabelStreams: ReadonlySet<string>,
): Promise<readonly bigint[] | undefined> {
  const { streams, profile } = request;
  const fieldsOf = (text: string): StreamIdentity['fields'] | undefined => streams.get(text)?.fields;
  // Where lines of the whole selection repeat too often to be named, those that pass the filter may not.
  const within =
    profile.repeatedAt ??
    (await timesOfRepeats(request, { streams: profile.streamsWithSharedTimes, areFew: false }, fieldsOf));
  if (within === undefined || sameLabelStreams.size === 0) return within;
  const filter = and(request.filter, streamsFilter(sameLabelStreams, fieldsOf));
  if (!(await hasRepeats({ ...request, filter }))) return within;
  const across = await repeatedTimes({ ...request, filter });
  return across === undefined ? undefined : [...new Set([...within, ...across])];
}

/** Whether any rows share time and line. */
async function hasRepeats({ upstream, range, filter }: DuplicatesRequest): Promise<boolean> {
  const values = await upstream.stats({ query: query(filter, [stats([], ...repeatCounts)]), range });
  return new Set(values.map(({ value }) => value)).size > 1;
}
