/** Rows whose lines must be looked at to know their level, while all others are counted by a cheaper digest. */
import type { LeafRequest, RangeEngine } from '../../../logql/metric/index.js';
import { descriptorOf } from '../../../logql/stages/index.js';
import { oncePerObject } from '../../../base/memory/account.js';
import { ofKey } from '../../../base/memory/byte-lru.js';
import { eachAtPace, eachStep, type Pacer, type Steps } from '../../../base/pace/steps.js';
import type { SampleExtractor } from '../../../logql/pipeline/extractor.js';
import type { LogsqlFilter, StreamMatcher } from '../../../victoria/logsql/ast.js';
import {
  and,
  limit,
  matcher,
  not,
  query,
  streamList,
  streamMatch,
  where,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { detectedLevelName, levelOfLine } from '../../../victoria/names/level.js';
import { levelNames, levels } from '../../../victoria/names/level-words.js';
import { pipelineEntry, type RowReader } from '../../../victoria/names/row-reader.js';
import { columnOf, columnsOf, type BackendRow } from '../../../victoria/upstream/types.js';
import type { LeafPush } from '../../plan/columns.js';
import { streamsFilter, type ComparedRows } from '../../rows/repeating-streams.js';
import type { InspectedLines, UncertainLines } from './line-digests.js';
import { bytesOfRow, maxKeptBytes, maxKeptRows } from './repeated-times.js';
import type { SegmentRun } from './segment-findings.js';
import { streamFields, type StreamListing } from './stream-listing.js';
import { rowsOfStreams } from './time-segments.js';

/** The rows with uncertain lines, in one or several segments of time. */
export interface FoundUncertainty {
  /** `_stream` texts of the streams with rows that match the requested `uncertainLines`; undefined if these were not requested. */
  readonly uncertainStreams: ReadonlySet<string> | undefined;
  /** Uncertain rows of the streams that have few of them. */
  readonly uncertainRows: readonly UncertainRow[];
  /** `_stream` texts of the streams with uncertain rows that are not among `uncertainRows`; undefined if these were not requested. */
  readonly uncorrectedStreams: ReadonlySet<string> | undefined;
  /** `_stream` texts of the streams with a row that has a level, or an uncertain line; undefined if that is unknown. */
  readonly streamsWithLevel: ReadonlySet<string> | undefined;
}

/** A row whose line must be looked at to know its level. */
export interface UncertainRow {
  /** All its columns. */
  readonly row: BackendRow;
  /** The level by which the backend counts it. */
  readonly countedLevel: string;
  /** The level of its line. */
  readonly level: string;
}

/** Minimum number of rows per uncertain row: correcting the count of one takes as long as counting ten by the rules for levels. */
const minRowsPerCorrection = 10;

/** The number of rows by stream, and of those with uncertain lines. */
export interface UncertainCounts {
  readonly rows: ReadonlyMap<string, number>;
  readonly uncertain: ReadonlyMap<string, number>;
}

/**
 * The uncertain rows of each segment, in the streams where they are few, so that all rows can be counted by the cheaper digest and these
 * counts be corrected. In each segment, they are all uncertain rows of a stream or none.
 */
export async function findUncertainRows(
  { upstream, reader, naming, filter }: Omit<ComparedRows, 'range'>,
  lines: UncertainLines,
  run: SegmentRun,
  counts: readonly UncertainCounts[],
): Promise<readonly (readonly UncertainRow[])[]> {
  const few = counts.map(streamsWithFew);
  const found = counts.map(() => new UncertainSegment());
  const streams = new Set(few.flatMap((some) => [...some]));
  const { countedLevel } = lines;
  if (countedLevel === undefined || streams.size === 0) return counts.map(() => []);
  const most = maxKeptRows * counts.length;
  const pipes = [...lines.pipes, where(lines.filter), limit(most + 1)];
  const asked = query(and(filter, streamsFilter(streams, reader)), pipes);
  let read = 0;
  for await (const batch of upstream.rows({ query: asked, range: run.range, lengthNs: run.lengthNs })) {
    read += batch.length;
    if (read > most) return counts.map(() => []);
    for (const row of batch) {
      if (!run.of(few, row).has(row._stream ?? '{}')) continue;
      run.of(found, row).add({
        row: withoutColumnsOfPipes(row),
        countedLevel: countedLevel((name) => columnOf(row, name)),
        level: levelOfLine(row._msg ?? '', naming.scansBodies),
      });
    }
  }
  return found.map(({ rows }, index) => {
    let expected = 0;
    for (const text of few[index] ?? []) expected += counts[index]?.uncertain.get(text) ?? 0;
    // Rows may have arrived after they were counted.
    return rows?.length === expected ? rows : [];
  });
}

/** Collects the uncertain rows of a segment within the limits. */
class UncertainSegment {
  /** Undefined if they are too large. */
  rows: UncertainRow[] | undefined = [];
  #bytes = 0;

  add(uncertain: UncertainRow): void {
    this.#bytes += bytesOfRow(uncertain.row);
    if (this.#bytes > maxKeptBytes) this.rows = undefined;
    this.rows?.push(uncertain);
  }
}

/** The streams with the fewest uncertain rows, as many as can be kept and corrected in less time than it takes to count by level. */
function streamsWithFew({ rows, uncertain }: UncertainCounts): ReadonlySet<string> {
  let all = 0;
  for (const count of rows.values()) all += count;
  const most = Math.min(maxKeptRows, all / minRowsPerCorrection);
  const some = [...uncertain].sort(([, a], [, b]) => a - b);
  const streams = new Set<string>();
  let kept = 0;
  for (const [text, count] of some) {
    kept += count;
    if (kept > most) break;
    streams.add(text);
  }
  return streams;
}

/** Maximum number of uncertain rows by which the counts of a query are corrected. */
const maxCorrections = 20_000;

/** Merges the uncertain rows of all segments in a range. */
export function mergeUncertainty(
  found: readonly Omit<FoundUncertainty, 'uncorrectedStreams'>[],
): FoundUncertainty {
  const uncertainStreams = new Set(found.flatMap(({ uncertainStreams: some = [] }) => [...some]));
  const uncertainRows = found.flatMap((one) => one.uncertainRows);
  const isComplete = found.length > 0 && found.every((one) => one.streamsWithLevel !== undefined);
  const streamsWithLevel = isComplete
    ? new Set(found.flatMap((one) => [...(one.streamsWithLevel ?? [])]))
    : undefined;
  if (uncertainRows.length > maxCorrections)
    return { uncertainStreams, uncertainRows: [], uncorrectedStreams: uncertainStreams, streamsWithLevel };
  const uncorrectedStreams = new Set<string>();
  for (const one of found) {
    const corrected = new Set(one.uncertainRows.map(({ row }) => row._stream ?? '{}'));
    for (const text of one.uncertainStreams ?? []) if (!corrected.has(text)) uncorrectedStreams.add(text);
  }
  return { uncertainStreams, uncertainRows, uncorrectedStreams, streamsWithLevel };
}

/** The names of the columns that the pipes of level digests write begin with this text, which no label of a client may. */
const pipeColumns = '__level';

function withoutColumnsOfPipes(row: BackendRow): BackendRow {
  return Object.fromEntries(Object.entries(columnsOf(row)).filter(([name]) => !name.startsWith(pipeColumns)));
}

/** The uncertain rows of the streams that are counted by the cheaper digest. */
function correctableRows({ uncertainRows, uncorrectedStreams }: FoundUncertainty): readonly UncertainRow[] {
  return uncertainRows.filter(({ row }) => uncorrectedStreams?.has(row._stream ?? '{}') === false);
}

/**
 * True if nothing of a line but its level decides how a row counts, and no stage reads the level: then a filter of the backend never
 * depends on it.
 */
export function countsByLevel({
  plan: { push },
  request: { limits },
  grouping,
}: {
  readonly plan: { readonly push: LeafPush };
  readonly request: Pick<LeafRequest, 'limits'>;
  readonly grouping: { readonly size: number };
}): boolean {
  const isLevel = (name: string): boolean => name === detectedLevelName || levelNames.includes(name);
  const readsLevel = push.stages.some(
    (stage) => descriptorOf(stage).groupNames(stage)?.some(isLevel) !== false,
  );
  // Series that only mistaken counts have count towards the limit.
  const areFew = limits.maxSeries === 0 || grouping.size * (levels.length + 1) <= limits.maxSeries;
  return push.measure === 'count' && push.names !== 'all' && !readsLevel && areFew;
}

/** Evaluates single rows whose values are added to an engine or subtracted. */
export interface RowsToAdd {
  readonly reader: RowReader;
  readonly extract: SampleExtractor;
  readonly pacer: Pacer;
}

/** Counts rows by their levels instead of those by which the backend has counted them. */
export async function correctCounts(
  engine: Pick<RangeEngine, 'add'>,
  found: FoundUncertainty,
  { reader, extract, pacer }: RowsToAdd,
): Promise<void> {
  const add = (row: BackendRow, level: string, sign: 1 | -1): void => {
    const entry = reader.read(row, level);
    const sample = extract(pipelineEntry(entry));
    if (sample !== undefined) engine.add(sample.labels, entry.timestampNs, sign * sample.value);
  };
  await eachAtPace(correctableRows(found), pacer, ({ row, countedLevel, level }) => {
    add(row, countedLevel, -1);
    add(row, level, 1);
  });
}

/** Rows to count, with what is known of their lines. */
export interface CertainRows extends InspectedLines {
  /** Matches the rows among those of the selection. */
  readonly within: LogsqlFilter;
  /** True if reading them takes less time than letting the backend find their levels. */
  readonly areFew: boolean;
}

/** Maximum number of rows to read because of their lines. */
const maxReadRows = 50_000;
/** Maximum length of a filter for streams; with more streams, all rows count as uncertain. */
const maxFilterBytes = 4000;
const certain = { uncertainStreams: new Set<string>(), areFew: false };
const unknown = { uncertainStreams: undefined, areFew: false };
const allUncertain: readonly CertainRows[] = [{ ...unknown, within: and() }];

/** The rows of streams whose lines are all certain, and all other rows. */
export function rowsByCertainty(
  { uncertainStreams, levelless }: InspectedLines,
  { streams, listed }: StreamListing,
): readonly CertainRows[] {
  if (uncertainStreams === undefined) return allUncertain;
  const texts = [...streams.keys()];
  const uncertain = texts.filter((text) => uncertainStreams.has(text));
  if (uncertain.length === 0) return [{ ...certain, levelless, within: and() }];
  const namesUncertain = 2 * uncertain.length <= texts.length;
  const filter = filterOfStreams(
    namesUncertain ? uncertain : texts.filter((text) => !uncertainStreams.has(text)),
    streams,
  );
  if (filter === undefined) return allUncertain;
  const rows = rowsOfStreams(listed.filter(({ value }) => uncertainStreams.has(value)));
  return [
    { ...certain, levelless, within: namesUncertain ? not(filter) : filter },
    { ...unknown, within: namesUncertain ? filter : not(filter), areFew: rows <= maxReadRows },
  ];
}

/** Matches the rows of these streams, by all labels, including those that a stream does not have; undefined for no streams or too many. */
function filterOfStreams(
  texts: readonly string[],
  streams: StreamListing['streams'],
): LogsqlFilter | undefined {
  const names = [...streamFields(streams).keys()];
  const groups = texts.map((text): readonly StreamMatcher[] =>
    names.map((name) => matcher(name, '=', streams.get(text)?.fields.get(name) ?? '')),
  );
  // A selector without groups would match all rows.
  if (groups.length === 0) return undefined;
  const filter = streamList(groups);
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes ? undefined : filter;
}

/** True if lines that were expected like this are counted correctly. Lines of streams without levels may be searched, too. */
export function isExpectationMet(expected: InspectedLines, now: InspectedLines): boolean {
  const isSpared =
    expected.levelless === undefined ||
    (now.levelless !== undefined && printFilter(now.levelless) === printFilter(expected.levelless));
  return isSpared && areSameStreams(expected.uncertainStreams, now.uncertainStreams);
}

type KnownStreams = ReadonlySet<string> | undefined;

/** True if both are known and equal, or both are unknown. */
function areSameStreams(a: KnownStreams, b: KnownStreams): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && [...a].every((text) => b.has(text));
}

/** Minimum share of the rows for which a condition that spares the search of their lines is worthwhile. */
const minLevellessShare = 0.1;
/** Maximum number of values of a label, and maximum length of the values in a condition. */
const maxLevellessValues = 500;
const maxLevellessLength = 1000;

/** The rows found last for the streams of a listing, which are found again as long as the same streams have levels. */
const latestLevelless = oncePerObject<
  StreamListing['streams'],
  { streamsWithLevel?: KnownStreams; rows?: LogsqlFilter | undefined }
>(() => ({}));

/**
 * Matches rows in streams none of whose lines has a level, by the values of one label that no other stream has. Of the labels, it takes the
 * one that finds the most rows; undefined if these are few.
 */
export function* levellessRows(
  { streamsWithLevel }: Pick<FoundUncertainty, 'streamsWithLevel'>,
  { streams, listed }: StreamListing,
): Steps<LogsqlFilter | undefined> {
  const latest = latestLevelless(streams);
  if (streamsWithLevel === undefined || areSameStreams(streamsWithLevel, latest.streamsWithLevel))
    return streamsWithLevel && latest.rows;
  // The number of rows by value; not a number for a value of streams with levels.
  const rowsByLabel = new Map<string, Map<string, number>>();
  yield* eachStep(listed, ({ value: text, hits }) => {
    const stream = streams.get(text);
    if (stream === undefined || stream.level !== undefined) return;
    const rows = streamsWithLevel.has(text) ? NaN : hits;
    for (const [label, value] of stream.fields) {
      const byValue = ofKey(rowsByLabel, label, () => new Map<string, number>());
      if (byValue.size <= maxLevellessValues) byValue.set(value, (byValue.get(value) ?? 0) + rows);
    }
  });
  let best = { rows: rowsOfStreams(listed) * minLevellessShare, label: '', values: new Array<string>() };
  for (const [label, byValue] of rowsByLabel) {
    if (byValue.size > maxLevellessValues) continue;
    const values: string[] = [];
    let [rows, length] = [0, 0];
    const pure = [...byValue].filter(([, some]) => !Number.isNaN(some));
    for (const [value, some] of pure.sort(([, a], [, b]) => b - a)) {
      if (length + value.length > maxLevellessLength) continue;
      values.push(value);
      rows += some;
      length += value.length;
    }
    if (rows > best.rows || (rows === best.rows && values.length < best.values.length))
      best = { rows, label, values };
  }
  const { label, values } = best;
  const rows =
    values.length === 0 ? undefined : streamMatch({ kind: 'list', label, op: 'in' as const, values });
  Object.assign(latest, { streamsWithLevel, rows });
  return rows;
}
