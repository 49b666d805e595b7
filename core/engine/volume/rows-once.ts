import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, query } from '../../victoria/logsql/build.js';
import { isOwnColumn, type BackendRow } from '../../victoria/upstream/types.js';
import type { EngineContext } from '../context.js';
import { duplicateRows } from '../metric/count/duplicates.js';
import { denseRows, rowPartsOf, type DenseRows, type RowPart } from '../metric/count/found-repeats.js';
import type { ProfileRequest } from '../metric/count/profile.js';
import { readStreams, streamsWithSameEntries, type ListedRange } from '../metric/count/stream-listing.js';
import { isDeclined } from '../metric/declined.js';
import { streamsFilter } from '../rows/repeating-streams.js';

/** Rows to count such that entries that were pushed more than once count once. */
export interface RowsOnce {
  /** Parts of the rows; each row is in one of them. */
  readonly parts: readonly RowPart[];
  /** Rows of the parts that repeat another one. */
  readonly surplus: readonly BackendRow[];
  /** `_stream` texts of streams that may share entries with another stream, so that both have the texts of such an entry. */
  readonly together: ReadonlySet<string>;
  /** True if rows may have no stored line. */
  readonly mayMissLines: boolean;
}

/** Counts every row of a filter. */
export function everyRow(filter: LogsqlFilter): RowsOnce {
  return { parts: [{ filter }], surplus: [], together: new Set(), mayMissLines: true };
}

type Context = Pick<
  EngineContext,
  'upstream' | 'reader' | 'naming' | 'memories' | 'repeatedRows' | 'memory' | 'signal'
>;

/** True if the selection is known to have so many repeats that rows are counted in several parts. */
export function mayRepeat(filter: LogsqlFilter, context: Context): boolean {
  return context.memories.profiler.lastKnown(asked(filter, context)).dense.length > 0;
}

function asked(filter: LogsqlFilter, context: Context): ProfileRequest {
  return { ...context, selection: filter, columns: [] };
}

/** @param listing of the whole segments around the range */
export async function rowsOnce(
  filter: LogsqlFilter,
  range: TimeRange,
  listing: ListedRange,
  context: Context,
): Promise<RowsOnce> {
  const { reader, memories, signal } = context;
  const profile = await memories.profiler.of(asked(filter, context), range, listing);
  const mayMissLines = profile.missing > 0;
  const streams = await atPace(readStreams(listing.listed, reader), new Pacer(signal));
  const together = await streamsWithSameEntries(streams);
  const looked = { ...context, filter, range, streams, profile };
  const surplus = await duplicateRows({ ...looked, leavesDense: true });
  if (!isDeclined(surplus))
    return { parts: rowPartsOf(filter, denseRows(profile, reader)), surplus, together, mayMissLines };
  const stored = await storedRows(filter, profile.streamsWithSharedTimes, range, context);
  return { parts: rowPartsOf(filter, stored), surplus: [], together, mayMissLines };
}

/** The rows of streams with too many repeats to compare them as entries. Rows are then the same entry if all stored fields are equal. */
async function storedRows(
  filter: LogsqlFilter,
  streams: ReadonlySet<string>,
  range: TimeRange,
  { upstream, reader }: Context,
): Promise<DenseRows | undefined> {
  if (streams.size === 0) return undefined;
  const own = streamsFilter(streams, reader);
  const names = await upstream.list({ listing: 'field_names', query: query(and(filter, own)), range });
  const fields = names.map(({ value }) => value).filter((name) => !isOwnColumn(name));
  const distinctBy = ['_time', '_stream', '_msg', ...fields];
  return { filter: own, parts: [{ filter: own, distinctBy }] };
}
