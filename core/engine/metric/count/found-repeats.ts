import type { Memory } from '../../../base/memory/byte-lru.js';
import { isWithin } from '../../../base/order.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, or, timeRange } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { parseRowTime } from '../../../victoria/names/row-reader.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import {
  repeatingStreams,
  maxNamedStreams,
  streamsFilter,
  type ComparedRows,
  type RepeatingStreams,
} from '../../rows/repeating-streams.js';
import {
  bytesOfRow,
  maxTimes,
  sharedTimes,
  surplusRows,
  surplusRowsOf,
  timesIn,
  timesOfRepeats,
  whenTimesAreShared,
  type FoundSurplus,
} from './repeated-times.js';
import { keptMs, type SegmentFinding, type SegmentRun } from './segment-findings.js';
import { isIn } from './time-segments.js';

/** Entries that were pushed more than once, in one or several segments of time. */
export interface FoundRepeats extends FoundSurplus {
  /** Times at which entries of a stream are repeated, and possibly some other times; undefined if there are too many. */
  readonly repeatedAt: readonly bigint[] | undefined;
  /** Streams and times with so many repeats that it is cheaper to let the backend count distinct rows than to subtract surplus rows. */
  readonly dense: readonly DenseRepeats[];
  /** The surplus rows outside of `dense`. */
  readonly surplusElsewhere: readonly BackendRow[] | undefined;
}

/** Streams in a time segment with many repeated entries. */
export interface DenseRepeats {
  readonly range: TimeRange;
  /** Their `_stream` texts. */
  readonly streams: ReadonlySet<string>;
  /** Rows of one stream are the same entry if and only if they have equal values in these columns. */
  readonly columns: readonly string[];
}

/** The repeated entries of a segment. */
export interface SegmentRepeats extends FoundSurplus, Pick<FoundRepeats, 'repeatedAt'> {
  /** The rows that the backend can deduplicate in the segment; empty if none repeat, or if it cannot tell which. */
  readonly dense: readonly DenseRepeats[];
  /** The number of rows that the backend would have to deduplicate. */
  readonly denseRows: number;
}

export const noSegmentRepeats: SegmentRepeats = {
  repeatedAt: [],
  surplus: [],
  surplusAt: [],
  dense: [],
  denseRows: 0,
};

export interface SegmentCounts {
  /** Number of rows by `_stream` text. */
  readonly rows: ReadonlyMap<string, number>;
  /** Number of rows that share their time with another row, for each stream with such rows; NaN if it was not counted. */
  readonly sharingOf: ReadonlyMap<string, number>;
  /** Total number of rows that share their time with another row of their stream. */
  readonly sharing: number;
}

/** Maximum number of time-sharing rows per segment, and in all, that are read to compare them. */
const fewSharing = 50;
const fewInAll = 400;

/** The repeats of a segment, and the checksum of its rows. */
export interface KnownRepeats extends SegmentFinding {
  readonly repeats: SegmentRepeats;
}

/**
 * Finds the repeated entries of each segment once, whatever queries ask about its rows.
 * @param key of the compared rows
 * @param checksums of the segments
 */
export async function knownRepeats(
  memory: Memory<KnownRepeats>,
  key: string,
  compared: Omit<ComparedRows, 'range'>,
  run: SegmentRun,
  counts: readonly SegmentCounts[],
  checksums: readonly bigint[],
): Promise<readonly SegmentRepeats[]> {
  const keys = run.segments.map(({ startNs, endNs }) => `${key} ${startNs}-${endNs}`);
  const known = keys.map((each, index) => {
    const before = memory.get(each);
    return before?.checksum === checksums[index] ? before?.repeats : undefined;
  });
  const unknown = counts.map((each, index) => (known[index] === undefined ? each : noRows));
  const found = await findRepeats(compared, run, unknown);
  return run.segments.map(({ isWhole }, index) => {
    const before = known[index];
    if (before !== undefined) return before;
    const repeats = found[index] ?? noSegmentRepeats;
    const [each, checksum, count] = [keys[index], checksums[index], counts[index] ?? noRows];
    if (isWhole && each !== undefined && checksum !== undefined && count.sharingOf.size > 0)
      memory.set(each, { repeats, checksum }, 2 * each.length + bytesOfRepeats(repeats), keptMs);
    return repeats;
  });
}

const bytesOfTime = 24;

/** The approximate size of repeats in memory. */
export function bytesOfRepeats({
  repeatedAt = [],
  surplus = [],
  surplusAt = [],
  dense,
}: Omit<SegmentRepeats, 'denseRows'>): number {
  let bytes = bytesOfTime * repeatedAt.length;
  for (const row of surplus) bytes += bytesOfRow(row);
  for (const { stream, times } of surplusAt) bytes += 2 * stream.length + 200 + times.byteLength;
  for (const { streams, columns } of dense)
    for (const text of [...streams, ...columns]) bytes += 2 * text.length + 60;
  return bytes;
}

/** Finds the repeated entries of each segment, in the streams where rows share times. */
async function findRepeats(
  compared: Omit<ComparedRows, 'range'>,
  run: SegmentRun,
  counts: readonly SegmentCounts[],
): Promise<readonly SegmentRepeats[]> {
  const { range, segments } = run;
  const streams = new Set(counts.flatMap(({ sharingOf }) => [...sharingOf.keys()]));
  if (streams.size === 0) return counts.map(() => noSegmentRepeats);
  const sharing = counts.reduce((sum, each) => sum + each.sharing, 0);
  const at = { ...compared, range };
  const ofStreams = streamsFilter(streams, compared.reader);
  const shared = { streams, where: await whereShared(at, run, counts, { streams, ofStreams }) };
  // If few rows share a time, all of them are read and compared.
  const times =
    sharing <= Math.min(fewSharing * counts.length, fewInAll) ? await sharedTimes(at, shared) : undefined;
  if (times !== undefined) {
    const filter = and(compared.filter, ofStreams);
    return comparedAt({ ...compared, filter }, run, bySegment(times, run));
  }
  const repeating = await repeatingStreams(at, shared);
  if (repeating === undefined) return counts.map(() => noSegmentRepeats);
  const { exactFields, filter } = repeating;
  if (exactFields === undefined)
    return comparedAt(compared, run, await timesBySegment(compared, run, counts, repeating));
  const isDecidedByTime = decidedByTime(counts, repeating);
  const columns = { fields: exactFields, areTimesEnough: [...streams].every(isDecidedByTime) };
  const sharingBySegment = counts.map(({ sharing }) => sharing);
  const found = await surplusRowsOf({ ...compared, filter }, run, columns, sharingBySegment);
  return found.map(({ surplus, surplusAt }, index): SegmentRepeats => {
    const { rows, sharingOf } = counts[index] ?? noRows;
    const own = [...sharingOf.keys()];
    const streamsOfSegment = new Set(own.filter((text) => repeating.streams.has(text)));
    const repeatedAt = surplus && timesOfRows(surplus);
    const dense = {
      range: rangeAround(surplusAt?.flatMap(({ times }) => [...times])) ?? segments[index] ?? range,
      streams: streamsOfSegment,
      columns: own.every(isDecidedByTime) ? ['_time'] : ['_time', '_msg', ...exactFields],
    };
    const isNone = surplus?.length === 0;
    return {
      ...{ surplus, surplusAt, repeatedAt, dense: isNone ? [] : [dense] },
      denseRows: isNone
        ? 0
        : Math.ceil(rowsOf(streamsOfSegment, rows) * shareOf(dense.range, segments[index])),
    };
  });
}

/** Returns a test for streams in which all rows with the same time are one entry, so that their lines need not be compared. */
function decidedByTime(
  counts: readonly SegmentCounts[],
  { surplus }: RepeatingStreams,
): (stream: string) => boolean {
  const sharing = new Map<string, number>();
  for (const { sharingOf } of counts)
    for (const [stream, count] of sharingOf) sharing.set(stream, (sharing.get(stream) ?? 0) + count);
  return (stream) => sharing.get(stream) === surplus.get(stream);
}

/** The share of a segment's time that a range in it takes. */
function shareOf(range: TimeRange, segment: TimeRange = range): number {
  return Number(range.endNs - range.startNs) / Number(segment.endNs - segment.startNs);
}

/** The range from the first to the last of these times; undefined if there are none. */
function rangeAround(times: readonly bigint[] | undefined): TimeRange | undefined {
  const [first, ...others] = times ?? [];
  if (first === undefined) return undefined;
  let [startNs, lastNs] = [first, first];
  for (const time of others) {
    if (time < startNs) startNs = time;
    if (time > lastNs) lastNs = time;
  }
  return { startNs, endNs: lastNs + 1n };
}

/** Finds the surplus rows at these times, by segment. */
async function comparedAt(
  compared: Omit<ComparedRows, 'range'>,
  run: SegmentRun,
  repeatedAt: readonly (readonly bigint[] | undefined)[],
): Promise<readonly SegmentRepeats[]> {
  const found = await surplusRows({ ...compared, range: run.range }, run, repeatedAt);
  return found.map((surplus, index) => ({ ...noSegmentRepeats, ...surplus, repeatedAt: repeatedAt[index] }));
}

const noRows: SegmentCounts = { rows: new Map(), sharingOf: new Map(), sharing: 0 };

/** The number of rows of these streams; of all streams, if these are too many to name. */
function rowsOf(streams: ReadonlySet<string>, rows: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const text of streams.size > maxNamedStreams ? rows.keys() : streams) all += rows.get(text) ?? 0;
  return all;
}

/** The times of these rows, each once. */
export function timesOfRows(rows: readonly BackendRow[]): readonly bigint[] {
  return [...new Set(rows.map(({ _time = '' }) => parseRowTime(_time)))];
}

/** Finds the times of repeats in each segment, with a separate call for each segment if there are too many for one. */
async function timesBySegment(
  compared: Omit<ComparedRows, 'range'>,
  run: SegmentRun,
  counts: readonly SegmentCounts[],
  repeating: RepeatingStreams,
): Promise<readonly (readonly bigint[] | undefined)[]> {
  const all = await timesIn({ ...compared, range: run.range }, repeating);
  if (all !== undefined) return bySegment(all, run);
  if (counts.length === 1) return [undefined];
  const parts: (readonly bigint[] | undefined)[] = [];
  for (const [index, range] of run.segments.entries()) {
    const streams = new Set(counts[index]?.sharingOf.keys() ?? repeating.streams);
    parts.push(await timesOfRepeats({ ...compared, range }, { streams }));
  }
  return parts;
}

function bySegment(times: readonly bigint[], run: SegmentRun): readonly (readonly bigint[])[] {
  const parts: bigint[][] = run.segments.map(() => []);
  for (const time of times) parts[run.indexOf(time)]?.push(time);
  return parts;
}

/** Longer filters cost the backend more time than they save, and leave no room for the columns to compare. */
const maxWhereBytes = 10_000;

/** Matches the rows of streams that share times, where and when they do; undefined if that is not much less than all rows of these streams. */
async function whereShared(
  compared: ComparedRows,
  { segments }: SegmentRun,
  counts: readonly SegmentCounts[],
  { streams, ofStreams }: { readonly streams: ReadonlySet<string>; readonly ofStreams: LogsqlFilter },
): Promise<LogsqlFilter | undefined> {
  let rows = 0;
  const parts = segments.flatMap((segment, index) => {
    const { sharingOf, rows: inSegment } = counts[index] ?? noRows;
    const own = new Set(sharingOf.keys());
    rows += rowsOf(own, inSegment);
    const ofOwn = own.size === streams.size ? and() : streamsFilter(own, compared.reader);
    return own.size === 0 ? [] : [and(timeRange(segment), ofOwn)];
  });
  // The backend looks up no stream filters that are alternatives.
  const inSegments = shortly(and(ofStreams, or(...parts)));
  const searched = and(compared.filter, inSegments ?? ofStreams);
  const times = await whenTimesAreShared({ ...compared, filter: searched }, rows);
  if (times === undefined) return segments.length === 1 ? undefined : inSegments;
  const within = or(...times.map(timeRange));
  return inSegments === undefined ? within : (shortly(and(within, inSegments)) ?? within);
}

/** The filter, if it is short enough to save time. */
export function shortly(filter: LogsqlFilter): LogsqlFilter | undefined {
  return Buffer.byteLength(printFilter(filter)) > maxWhereBytes ? undefined : filter;
}

/** Maximum number of surplus rows that are subtracted from the counts of a query one by one. */
const maxSurplus = 20_000;
/** Number of rows that the backend deduplicates in the time that subtracting one row takes. */
const distinctPerSurplus = 40;
/** Number of surplus rows that are subtracted in the time that another call takes. */
const surplusPerCall = 1_000;
/** Maximum number of segments of which some are deduplicated by the backend and others are not, so that filters by time stay short. */
export const maxMixed = 100;

/**
 * Merges the findings of all segments in a range. The backend deduplicates the segments in which this is cheaper than to subtract surplus
 * rows, if that saves the time of its call, and those with the most surplus rows if there are too many to subtract.
 */
export function mergeRepeats(all: readonly SegmentRepeats[], range?: TimeRange): FoundRepeats {
  const found = range === undefined ? all : all.map((one) => repeatsIn(range, one));
  const sizeOf = ({ surplus = [] }: SegmentRepeats): number => surplus.length;
  const savingOf = (one: SegmentRepeats): number => sizeOf(one) - one.denseRows / distinctPerSurplus;
  const able = found.filter(({ dense }) => dense.length > 0);
  const larger = able.filter(({ surplus }) => surplus === undefined);
  const cheaper = able.filter((one) => savingOf(one) > 0);
  const saving = cheaper.reduce((sum, one) => sum + savingOf(one), 0);
  const isWorthCall = larger.length > 0 || saving > surplusPerCall;
  const chosen = isWorthCall ? [...larger, ...cheaper] : [];
  const deduplicated = new Set(chosen.length > maxMixed ? able : chosen);
  let left = maxSurplus;
  for (const one of found) if (!deduplicated.has(one)) left -= sizeOf(one);
  for (const one of able.sort((a, b) => sizeOf(b) - sizeOf(a))) {
    if (left >= 0) break;
    if (!deduplicated.has(one)) left += sizeOf(one);
    deduplicated.add(one);
  }
  const few = (some: readonly SegmentRepeats[]): readonly BackendRow[] | undefined => {
    const rows = some.flatMap(({ surplus = [] }) => surplus);
    return some.some(({ surplus }) => surplus === undefined) || rows.length > maxSurplus ? undefined : rows;
  };
  const repeatedAt = found.flatMap((one) => one.repeatedAt ?? []);
  const areNamed = found.every((one) => one.repeatedAt !== undefined) && repeatedAt.length <= maxTimes;
  return {
    repeatedAt: areNamed ? repeatedAt : undefined,
    surplus: few(found),
    surplusAt: found.every((one) => one.surplusAt !== undefined)
      ? found.flatMap((one) => one.surplusAt ?? [])
      : undefined,
    surplusElsewhere: few(found.filter((one) => !deduplicated.has(one))),
    dense: found.flatMap((one) => (deduplicated.has(one) ? one.dense : [])),
  };
}

/** The repeats of a segment that are in a range. */
function repeatsIn(range: TimeRange, one: SegmentRepeats): SegmentRepeats {
  const around = one.dense.length === 0 ? rangeAround(one.repeatedAt) : one.dense[0]?.range;
  if (around !== undefined && isWithin(around, range)) return one;
  return {
    ...one,
    surplus: one.surplus?.filter(({ _time = '' }) => isIn(range, parseRowTime(_time))),
    surplusAt: one.surplusAt?.flatMap(({ stream, times }) => {
      const some = times.filter((ns) => isIn(range, ns));
      return some.length === 0 ? [] : [{ stream, times: some }];
    }),
    repeatedAt: one.repeatedAt?.filter((ns) => isIn(range, ns)),
    dense: one.dense.filter(
      (dense) => dense.range.startNs < range.endNs && range.startNs < dense.range.endNs,
    ),
  };
}
