import { timeOrder } from '../../../base/order.js';
import { ofKey } from '../../../base/memory/byte-lru.js';
import type { ExtractedSample } from '../../../logql/pipeline/types.js';
import { eachAtPace } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { RangeEngine } from '../../../logql/metric/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, not, or, timeRange } from '../../../victoria/logsql/build.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { parseRowTime, pipelineEntry, type RowReader } from '../../../victoria/names/row-reader.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { Backend } from '../../backend.js';
import { streamsWithSameEntries } from './stream-listing.js';
import { streamsFilter } from '../../rows/repeating-streams.js';
import { maxMixed, shortly, timesOfRows, type DenseRepeats, type FoundRepeats } from './found-repeats.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { Repeats } from '../repeats.js';
import { maxTimes, rowsAt, timesOfRepeats, type StreamTimes } from './repeated-times.js';
import type { SelectionProfile } from './profile.js';
import type { RowsToAdd } from './uncertain-rows.js';

export interface DuplicatesRequest extends Backend {
  readonly memory: MemoryAccount;
  readonly filter: LogsqlFilter;
  /** The profile of the selection's rows. */
  readonly profile: Pick<
    SelectionProfile,
    'streamsWithSharedTimes' | 'repeatedAt' | 'surplus' | 'surplusElsewhere' | 'dense' | 'isUncompared'
  >;
  readonly range: TimeRange;
  /** Streams by their `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  /** True if the caller deduplicates the rows of dense streams; their surplus rows are not returned then. */
  readonly leavesDense?: boolean;
}

/** Rows that repeat an earlier one. */
export interface Duplicates {
  readonly rows: readonly BackendRow[];
  /** Streams and times of further ones. */
  readonly times: readonly StreamTimes[];
}

export const noDuplicates: Duplicates = { rows: [], times: [] };

/** @param times of the surplus rows, if their streams alone decide how they count */
export async function duplicatesOf(
  request: DuplicatesRequest,
  times: readonly StreamTimes[] | undefined,
): Promise<Duplicates | Declined> {
  if (times !== undefined && (await streamsWithSameEntries(request.streams)).size === 0)
    return { rows: [], times };
  const rows = await duplicateRows(request);
  return isDeclined(rows) ? rows : { rows, times: [] };
}

/** Subtracts rows that were counted twice. */
export async function subtractDuplicates(
  engine: Pick<RangeEngine, 'add'>,
  { rows, times }: Duplicates,
  { reader, extract, pacer }: RowsToAdd,
): Promise<void> {
  const sampleOf = (row: BackendRow): ExtractedSample | undefined => extract(pipelineEntry(reader.read(row)));
  await eachAtPace(rows, pacer, (row) => {
    const sample = sampleOf(row);
    if (sample !== undefined) engine.add(sample.labels, parseRowTime(row._time ?? ''), -sample.value);
  });
  // A stream has times in many segments, and its rows count alike.
  const samples = new Map<string, ExtractedSample | undefined>();
  for (const { stream, times: at } of times) {
    const sample = ofKey(samples, stream, () =>
      sampleOf({ _time: '1970-01-01T00:00:00Z', _stream: stream, _msg: '-' }),
    );
    await eachAtPace(at, pacer, (ns) => {
      if (sample !== undefined) engine.add(sample.labels, ns, -sample.value);
    });
  }
}

/**
 * Finds the surplus rows of entries that were pushed more than once, and possibly some that do not pass the filter. They come from the
 * profile of the selection. If they are too many or too large, the profile only contains the times at which rows must be read, and streams
 * that may share entries are inspected again.
 */
export async function duplicateRows(request: DuplicatesRequest): Promise<readonly BackendRow[] | Declined> {
  const { profile, reader, memory, leavesDense = false } = request;
  const surplus = leavesDense ? profile.surplusElsewhere : profile.surplus;
  if (profile.isUncompared === true) return surplus ?? [];
  const together = await streamsWithSameEntries(request.streams);
  if (together.size === 0 && surplus !== undefined) return surplus;
  const times = leavesDense && profile.dense.length > 0 ? undefined : await timesOf(request, together);
  if (times === undefined || times.length > maxTimes) return decline('too-many-repeats');
  const duplicates: BackendRow[] = [];
  const repeats = new Repeats(memory);
  for await (const row of rowsAt(request, times))
    if (repeats.isRepeated(reader.read(row))) duplicates.push(row);
  return duplicates;
}

async function timesOf(
  request: DuplicatesRequest,
  together: ReadonlySet<string>,
): Promise<readonly bigint[] | undefined> {
  const { profile } = request;
  // If the whole selection has too many repeated entries to name, the filtered rows may still have few.
  const within =
    profile.repeatedAt ?? (await timesOfRepeats(request, { streams: profile.streamsWithSharedTimes }));
  if (within === undefined) return undefined;
  const across = await timesOfRepeats(request, { streams: together, areOne: true });
  return across === undefined ? undefined : [...new Set([...within, ...across])];
}

/** Rows that the backend deduplicates. */
export interface DenseRows {
  /** Matches these rows, and possibly others. */
  readonly filter: LogsqlFilter;
  /** The same rows without repeats, by columns of which at least one differs between entries. */
  readonly parts: readonly Required<RowPart>[];
}

/** The rows with many repeats; undefined if there are none. */
export function denseRows(
  { dense, surplusElsewhere = [] }: Pick<FoundRepeats, 'dense' | 'surplusElsewhere'>,
  reader: RowReader,
): DenseRows | undefined {
  if (dense.length === 0) return undefined;
  const comparesLines = ({ columns }: DenseRepeats): boolean =>
    columns.includes('_msg') || dense.length > maxMixed;
  const subtractedAt = timesOfRows(surplusElsewhere);
  const [byTime, byLine] = [dense.filter((one) => !comparesLines(one)), dense.filter(comparesLines)];
  const parts = (
    [
      [byTime, byLine],
      [byLine, byTime],
    ] as const
  )
    .filter(([some]) => some.length > 0)
    .map(([some, others]) =>
      partOf(some, [...subtractedAt, ...others.map(({ range }) => range.startNs)], reader),
    );
  return { filter: or(...parts.map(({ filter }) => filter)), parts };
}

/** @param elsewhere times of repeats that are not in the part */
function partOf(
  dense: readonly DenseRepeats[],
  elsewhere: readonly bigint[],
  reader: RowReader,
): Required<RowPart> {
  const named = dense.map(({ range, streams }) => ({ range, filter: streamsFilter(streams, reader) }));
  const areNamed = named.every(({ filter }) => filter.kind !== 'all');
  const streams = areNamed
    ? shortly(or(...named.map(({ range, filter }) => and(timeRange(range), filter))))
    : undefined;
  return {
    // In other streams of these segments, no two rows have the same time, or none have the same time and line.
    filter: streams ?? or(...joinedRanges(dense, elsewhere).map(timeRange)),
    distinctBy: [...new Set(['_stream', ...dense.flatMap(({ columns }) => columns)])],
  };
}

/** Number of ranges from which on distant ones are joined, too, to keep a filter short. */
const manyRanges = 30;

/**
 * The ranges, joined where none of these times is between them, and the time between them is shorter than they are: rows without repeats may
 * be in a part.
 */
function joinedRanges(dense: readonly DenseRepeats[], elsewhere: readonly bigint[]): readonly TimeRange[] {
  const ranges = dense.map(({ range }) => range).sort((a, b) => timeOrder(a.startNs, b.startNs));
  const times = [...elsewhere].sort(timeOrder);
  const joined: TimeRange[] = [];
  let next = 0;
  for (const range of ranges) {
    const last = joined.at(-1);
    while (next < times.length && (times[next] ?? 0n) < (last?.endNs ?? range.startNs)) next += 1;
    const isBetween = (times[next] ?? range.startNs) < range.startNs;
    const isFar = last !== undefined && range.startNs - last.endNs > range.endNs - range.startNs;
    if (last === undefined || isBetween || (isFar && ranges.length <= manyRanges)) joined.push(range);
    else if (range.endNs > last.endNs) joined[joined.length - 1] = { ...last, endNs: range.endNs };
  }
  return joined;
}

/** A part of the rows to count or gather. */
export interface RowPart {
  readonly filter: LogsqlFilter;
  /** Columns of which at least one differs between entries; rows with equal values in all of them are counted once. */
  readonly distinctBy?: readonly string[];
}

/** Splits the rows of a filter into those with many repeats and the others, whose surplus rows are subtracted. */
export function rowPartsOf(filter: LogsqlFilter, dense: DenseRows | undefined): readonly RowPart[] {
  if (dense === undefined) return [{ filter }];
  return [
    { filter: and(filter, not(dense.filter)) },
    ...dense.parts.map((part) => ({ ...part, filter: and(filter, part.filter) })),
  ];
}

/** Keeps one row per entry, with its line and these columns; later pipes see no other stored column. */
export function distinctRows({ distinctBy }: RowPart, columns: readonly string[]): readonly LogsqlPipe[] {
  if (distinctBy === undefined) return [];
  return [{ kind: 'uniq', by: [...new Set([...distinctBy, '_msg', ...columns])], hits: false }];
}
