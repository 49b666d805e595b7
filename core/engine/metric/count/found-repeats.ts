import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, not, or, timeRange } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import {
  repeatingStreams,
  streamsFilter,
  type Looked,
  type RepeatingStreams,
} from '../../rows/repeating-streams.js';
import {
  maxTimes,
  sharedTimes,
  surplusRows,
  surplusRowsOf,
  timesIn,
  timesOfRepeats,
} from './repeated-times.js';
import type { Run } from './stretches.js';

/** Entries that were pushed more than once, in one or several segments of time. */
export interface FoundRepeats {
  /** The times at which entries of one stream repeat, and possibly others; undefined when there are too many. */
  readonly repeatedAt: readonly bigint[] | undefined;
  /** The rows that repeat another one of their stream; undefined when they are too many or too large. */
  readonly surplus: readonly BackendRow[] | undefined;
  /** Streams and times with so many repeats that the backend counts distinct rows sooner than surplus ones are subtracted. */
  readonly crowded: readonly Crowded[];
  /** The surplus rows outside of `crowded`. */
  readonly surplusElsewhere: readonly BackendRow[] | undefined;
}

/** Streams in a stretch of time with many repeated entries. */
export interface Crowded {
  readonly range: TimeRange;
  /** Their `_stream` texts. */
  readonly streams: ReadonlySet<string>;
  /** Rows of one stream are one entry exactly if they have the same values in these columns. */
  readonly columns: readonly string[];
}

export const noRepeats: FoundRepeats = { repeatedAt: [], surplus: [], crowded: [], surplusElsewhere: [] };

/** Counts of one time segment. */
export interface SharedInStretch {
  /** By `_stream` text. */
  readonly rows: ReadonlyMap<string, number>;
  readonly streamsWithSharedTimes: ReadonlySet<string>;
  /** The number of rows that share their time with another row, for each stream with such rows; NaN if it was not counted. */
  readonly sharingOf: ReadonlyMap<string, number>;
  /** Rows that share their time with another one of their stream. */
  readonly sharing: number;
}

/** The most rows that share times of which all times are named, a stretch; those of all stretches should not be too many. */
const fewSharing = 50;

/** Finds the repeated entries of each stretch, in the streams in which rows share times. */
export async function findRepeats(
  looked: Omit<Looked, 'range'>,
  run: Run,
  counts: readonly SharedInStretch[],
): Promise<readonly FoundRepeats[]> {
  const { range, stretches } = run;
  const streams = new Set(counts.flatMap(({ streamsWithSharedTimes }) => [...streamsWithSharedTimes]));
  if (streams.size === 0) return counts.map(() => noRepeats);
  const sharing = counts.reduce((sum, each) => sum + each.sharing, 0);
  const shared = { streams, where: whereShared(run, counts, looked.reader) };
  const at = { ...looked, range };
  // Where few rows share a time, all of them are read and compared.
  const times = sharing <= fewSharing * counts.length ? await sharedTimes(at, shared) : undefined;
  if (times !== undefined) return comparedAt(looked, run, byStretch(times, run));
  const repeating = await repeatingStreams(at, shared);
  if (repeating === undefined) return counts.map(() => noRepeats);
  const { exactFields, filter } = repeating;
  if (exactFields === undefined)
    return comparedAt(looked, run, await timesByStretch(looked, run, counts, repeating));
  const within = shared.where === undefined ? filter : and(filter, shared.where);
  const found = await surplusRowsOf({ ...looked, filter: within }, run, exactFields);
  const isToldByTime = toldByTime(counts, repeating);
  return found.map((surplus, index): FoundRepeats => {
    const { rows, streamsWithSharedTimes: own } = counts[index] ?? noRows;
    const streamsOfStretch = new Set([...own].filter((text) => repeating.streams.has(text)));
    const isFew = surplus !== undefined && surplus.length <= mostSurplusOf(rows, streamsOfStretch);
    const repeatedAt = surplus && timesOf(surplus);
    const crowded = {
      range: rangeAround(repeatedAt) ?? stretches[index] ?? range,
      streams: streamsOfStretch,
      columns: [...own].every(isToldByTime) ? ['_time'] : ['_time', '_msg', ...exactFields],
    };
    return { surplus, repeatedAt, crowded: isFew ? [] : [crowded], surplusElsewhere: isFew ? surplus : [] };
  });
}

/** Returns a test for streams in which all rows with the same time are one entry, so that their lines need not be compared. */
function toldByTime(
  counts: readonly SharedInStretch[],
  { surplus }: RepeatingStreams,
): (stream: string) => boolean {
  const sharing = new Map<string, number>();
  for (const { sharingOf } of counts)
    for (const [stream, count] of sharingOf) sharing.set(stream, (sharing.get(stream) ?? 0) + count);
  return (stream) => sharing.get(stream) === surplus.get(stream);
}

/** From the first to the last of some times; undefined where there are none. */
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

/** The surplus rows among those of these times, by stretch. */
async function comparedAt(
  looked: Omit<Looked, 'range'>,
  run: Run,
  repeatedAt: readonly (readonly bigint[] | undefined)[],
): Promise<readonly FoundRepeats[]> {
  const found = await surplusRows({ ...looked, range: run.range }, run, repeatedAt);
  return repeatedAt.map((times, index) => {
    const surplus = found[index];
    return { repeatedAt: times, surplus, crowded: [], surplusElsewhere: surplus };
  });
}

const noRows: SharedInStretch = {
  rows: new Map(),
  streamsWithSharedTimes: new Set(),
  sharingOf: new Map(),
  sharing: 0,
};

/** So few surplus rows of a stretch are always subtracted one by one. */
const fewSurplus = 20;
/** Subtracting one row takes as long as letting the backend distinguish this number of rows. */
const distinctPerSurplus = 40;

/** With more surplus rows than this, it takes less time to count the distinct rows of these streams. */
function mostSurplusOf(rows: ReadonlyMap<string, number>, streams: ReadonlySet<string>): number {
  let all = 0;
  for (const text of streams) all += rows.get(text) ?? 0;
  return Math.max(fewSurplus, all / distinctPerSurplus);
}

function timesOf(rows: readonly BackendRow[]): readonly bigint[] {
  return [...new Set(rows.map(({ _time = '' }) => parseRowTime(_time)))];
}

/** The times of repeats of each stretch; where there are too many for one call, a call for each. */
async function timesByStretch(
  looked: Omit<Looked, 'range'>,
  run: Run,
  counts: readonly SharedInStretch[],
  repeating: RepeatingStreams,
): Promise<readonly (readonly bigint[] | undefined)[]> {
  const all = await timesIn({ ...looked, range: run.range }, repeating);
  if (all !== undefined) return byStretch(all, run);
  if (counts.length === 1) return [undefined];
  const parts: (readonly bigint[] | undefined)[] = [];
  for (const [index, range] of run.stretches.entries()) {
    const streams = counts[index]?.streamsWithSharedTimes ?? repeating.streams;
    parts.push(await timesOfRepeats({ ...looked, range }, { streams }));
  }
  return parts;
}

function byStretch(times: readonly bigint[], run: Run): readonly (readonly bigint[])[] {
  const parts: bigint[][] = run.stretches.map(() => []);
  for (const time of times) parts[run.indexOf(time)]?.push(time);
  return parts;
}

/** Longer filters take the backend more time than they save. */
const maxWhereBytes = 12_000;

/** Matches the rows of streams that share times in the stretches in which they do; undefined when that cannot be said shortly. */
function whereShared(
  { stretches }: Run,
  counts: readonly SharedInStretch[],
  reader: RowReader,
): LogsqlFilter | undefined {
  if (stretches.length === 1) return undefined;
  const parts = stretches.flatMap((stretch, index) => {
    const streams = counts[index]?.streamsWithSharedTimes;
    return streams === undefined || streams.size === 0
      ? []
      : [and(inTime(stretch), streamsFilter(streams, reader))];
  });
  return shortly(or(...parts));
}

function inTime({ startNs, endNs }: TimeRange): LogsqlFilter {
  return timeRange(startNs, endNs);
}

function shortly(filter: LogsqlFilter): LogsqlFilter | undefined {
  return Buffer.byteLength(printFilter(filter)) > maxWhereBytes ? undefined : filter;
}

/** The most surplus rows that are subtracted from the counts of a query one by one. */
const maxSurplus = 20_000;

/** Merges the findings of all segments. */
export function mergeRepeats(found: readonly FoundRepeats[]): FoundRepeats {
  const areNamed = found.every(({ repeatedAt }) => repeatedAt !== undefined);
  const repeatedAt = found.flatMap((one) => one.repeatedAt ?? []);
  const few = (rows: readonly (readonly BackendRow[] | undefined)[]): readonly BackendRow[] | undefined => {
    const all = rows.flatMap((some) => some ?? []);
    return rows.includes(undefined) || all.length > maxSurplus ? undefined : all;
  };
  return {
    repeatedAt: areNamed && repeatedAt.length <= maxTimes ? repeatedAt : undefined,
    surplus: few(found.map(({ surplus }) => surplus)),
    surplusElsewhere: few(found.map(({ surplusElsewhere }) => surplusElsewhere)),
    crowded: found.flatMap(({ crowded }) => crowded),
  };
}

/** Rows of which the backend tells distinct ones. */
export interface CrowdedRows {
  /** Matches them, and possibly others. */
  readonly filter: LogsqlFilter;
  /** The same rows, each once, by the columns of which at least one differs between entries. */
  readonly parts: readonly Required<PartOfRows>[];
}

/** The rows among which many repeat; undefined where there are none. */
export function crowdedRows(
  { crowded }: Pick<FoundRepeats, 'crowded'>,
  reader: RowReader,
): CrowdedRows | undefined {
  if (crowded.length === 0) return undefined;
  const comparesLines = ({ columns }: Crowded): boolean => columns.includes('_msg');
  const parts = [crowded.filter((one) => !comparesLines(one)), crowded.filter(comparesLines)]
    .filter(({ length }) => length > 0)
    .map((some) => partOf(some, reader));
  return { filter: or(...parts.map(({ filter }) => filter)), parts };
}

function partOf(crowded: readonly Crowded[], reader: RowReader): Required<PartOfRows> {
  const times = or(...crowded.map(({ range }) => inTime(range)));
  const streams = or(
    ...crowded.map(({ range, streams: own }) => and(inTime(range), streamsFilter(own, reader))),
  );
  return {
    // In other streams of these stretches no two rows have the same time and line, or no two have the same time.
    filter: shortly(streams) ?? times,
    distinctBy: [...new Set(['_stream', ...crowded.flatMap(({ columns }) => columns)])],
  };
}

/** Some of the rows to count or to gather. */
export interface PartOfRows {
  readonly filter: LogsqlFilter;
  /** The columns of which at least one differs between entries, where rows that are equal in all of them are one. */
  readonly distinctBy?: readonly string[];
}

/** The rows of a filter: those among which many repeat, and the others, of which surplus ones are subtracted. */
export function partsOf(filter: LogsqlFilter, crowded: CrowdedRows | undefined): readonly PartOfRows[] {
  if (crowded === undefined) return [{ filter }];
  return [
    { filter: and(filter, not(crowded.filter)) },
    ...crowded.parts.map((part) => ({ ...part, filter: and(filter, part.filter) })),
  ];
}

/** Leaves one row of each entry, with its line and these columns: no pipe behind sees another stored one. */
export function distinctRows({ distinctBy }: PartOfRows, columns: readonly string[]): readonly LogsqlPipe[] {
  if (distinctBy === undefined) return [];
  return [{ kind: 'uniq', by: [...new Set([...distinctBy, '_msg', ...columns])], hits: false }];
}
