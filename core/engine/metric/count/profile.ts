import type { TimeRange } from '../../../base/time/range.js';
import { type Assumptions, decline, type Declined } from '../cost.js';
import type { LogsqlFilter, StatsFunction } from '../../../victoria/logsql/ast.js';
import {
  and,
  freeName,
  limit,
  not,
  or,
  query,
  stats,
  statsFunction,
  union,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import { columnOf, type Upstream } from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { RepeatedRowsRule } from '../repeats.js';
import {
  bytesOfRepeats,
  mergeRepeats,
  noSegmentRepeats,
  knownRepeats,
  type FoundRepeats,
  type KnownRepeats,
  type SegmentRepeats,
} from './found-repeats.js';
import { bytesOfRow } from './repeated-times.js';
import type { UncertainLines } from './line-digests.js';
import { type ListedRange, overridingRows, readStreams, type StreamChecksums } from './stream-listing.js';
import { rowsOfStreams } from './time-segments.js';
import { countRows } from '../../rows/count-by-time.js';
import { findUncertainRows, mergeUncertainty, type FoundUncertainty } from './uncertain-rows.js';
import { itemAt, SegmentFindings, SegmentRun, type SegmentFinding, type Proofs } from './segment-findings.js';

/** Shows to what extent the rows of a selection can be counted instead of read. */
export interface SelectionProfile extends FoundRepeats, FoundUncertainty {
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly streamsWithSharedTimes: ReadonlySet<string>;
  /** Number of rows without a stored line. */
  readonly missing: number;
  /** True if any row has a stored line. */
  readonly hasLines: boolean;
  /** True if a row may override its stream's value in one of the columns. */
  readonly hasOverrides: boolean;
  /** Number of rows that match the requested `misparsedRows` filter. */
  readonly misparsedRows: number;
  /** True if some rows were not compared, and are taken for different entries. */
  readonly isUncompared?: boolean;
}

export interface ProfileRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  readonly selection: LogsqlFilter;
  /** Stream fields that rows may override. */
  readonly columns: readonly string[];
  /** Matches rows that the backend would count wrongly. */
  readonly misparsedRows?: LogsqlFilter | undefined;
  /** Lines that represent only themselves. */
  readonly uncertainLines?: UncertainLines | undefined;
  /** The option `-repeated-rows`. */
  readonly repeatedRows?: RepeatedRowsRule;
  /** The assumptions that a profile of unchecked rows may rely on. */
  readonly assumptions?: Assumptions | undefined;
}

export interface SegmentProfile
  extends Omit<SelectionProfile, keyof FoundRepeats | 'uncorrectedStreams'>, SegmentRepeats, SegmentFinding {}

/** TTL of the profile of another range as a guess. */
const lastKnownMs = 600_000;
/** Maximum number of groups of a segment; with more, the columns are treated as independent of streams. */
const maxGroups = 50_000;
/**
 * The number of rows that count as much as one whose line is inspected. That takes nine times as long as to compare its time; a client waits
 * about a second for 250,000 lines.
 */
const effortOfLine = 4;

/** The reason, if any, why the backend cannot shorten or gather the output of `| json` on stored lines. */
export function obstacleIn({ misparsedRows, hasOverrides }: SelectionProfile): Declined | undefined {
  if (misparsedRows > 0) return decline('lenient-numbers');
  return hasOverrides ? decline('hidden-fields') : undefined;
}

/** Profiles selections, and remembers the results by time segment. */
export class SelectionProfiler {
  readonly #findings: SegmentFindings<SegmentProfile>;
  readonly #latest: Memory<SelectionProfile>;
  readonly #checksums: StreamChecksums;
  readonly #repeats: Memory<KnownRepeats>;

  /**
   * @param findings profiles of segments
   * @param latest profiles of whole selections
   * @param repeats repeated rows of segments
   */
  constructor(
    findings: Memory<SegmentProfile>,
    latest: Memory<SelectionProfile>,
    repeats: Memory<KnownRepeats>,
    proofs: Proofs,
  ) {
    this.#findings = new SegmentFindings(findings, bytesOfProfile, proofs);
    this.#latest = latest;
    this.#checksums = proofs.checksums;
    this.#repeats = repeats;
  }

  /** The latest profile of a selection, for any range; that of usual rows, all with a line, if it was never profiled. */
  lastKnown(request: ProfileRequest): SelectionProfile & { readonly isKnown: boolean } {
    const known = this.#latest.get(keyOf(request));
    const usual = { ...withUncertainty(merged([]), request), hasLines: true };
    return { ...(known ?? usual), isKnown: known !== undefined };
  }

  /**
   * The profile of the whole segments around a range. If it contains something that must be read, that may lie outside the range.
   * @param listing of these segments
   */
  async of(request: ProfileRequest, range: TimeRange, listing: ListedRange): Promise<SelectionProfile> {
    const key = keyOf(request);
    const { assumptions } = request;
    const { found, isIncomplete } = await this.#findings.of(
      { ...request, key },
      listing,
      (run) => inspect(request, run, this.#checksums, this.#repeats),
      (rows) => assumptions?.allows(rows * effortPerRow(request), range) ?? false,
    );
    const profile = withUncertainty(merged(found, range), request);
    if (assumptions !== undefined && isIncomplete) {
      assume(assumptions, request, key);
      const quick = await this.#inspectQuickly(request, listing);
      return { ...profile, ...quick, streamsWithLevel: undefined, isUncompared: true };
    }
    // A guess does not need the rows themselves, which may be many.
    const guess = {
      ...profile,
      uncertainRows: [],
      surplus: [],
      surplusElsewhere: [],
      surplusAt: profile.surplusAt && [],
      repeatedAt: [],
    };
    this.#latest.set(key, guess, bytesOfProfile(guess), lastKnownMs);
    return profile;
  }

  /**
   * Finds rows with and without a line, and rows that override their stream's value: all are frequent, and the backend finds them without
   * reading times or lines.
   */
  async #inspectQuickly(
    request: ProfileRequest,
    { range, listed }: ListedRange,
  ): Promise<Pick<SelectionProfile, 'missing' | 'hasLines' | 'hasOverrides'>> {
    const { upstream, reader, naming, selection, columns } = request;
    const overriding = overridingRows(columns, await atPace(readStreams(listed, reader), new Pacer()));
    if (overriding !== undefined) {
      const counts = await Promise.all(
        [overriding, missingLineRows(naming)].map((rows) => countRows(upstream, and(selection, rows), range)),
      );
      const [overrides = 0, missing = 0] = counts;
      return { missing, hasLines: rowsOfStreams(listed) > missing, hasOverrides: overrides > 0 };
    }
    const quick = {
      ...request,
      repeatedRows: 'stored',
      misparsedRows: undefined,
      uncertainLines: undefined,
    } as const;
    const found = await inspect(
      quick,
      new SegmentRun({ ...range, isWhole: false, key: '' }),
      this.#checksums,
      this.#repeats,
    );
    const { missing, hasLines, hasOverrides } = merged(found, range);
    return { missing, hasLines, hasOverrides };
  }
}

/** The effort to inspect a row, as a number of rows whose times are compared. */
function effortPerRow({ uncertainLines }: ProfileRequest): number {
  return uncertainLines === undefined ? 1 : effortOfLine;
}

/** The assumptions that replace a complete inspection of the rows. */
function assume(
  assumptions: Assumptions,
  { misparsedRows, uncertainLines }: ProfileRequest,
  key: string,
): void {
  assumptions.make('no-repeats', key);
  if (misparsedRows !== undefined) assumptions.make('plain-values', key);
  if (uncertainLines !== undefined) assumptions.make('sampled-lines', key);
}

export type ProfileSource = Pick<SelectionProfiler, 'lastKnown' | 'of'>;

function withUncertainty(
  profile: SelectionProfile,
  { uncertainLines, repeatedRows }: ProfileRequest,
): SelectionProfile {
  const known =
    uncertainLines === undefined
      ? {
          ...profile,
          uncertainStreams: undefined,
          uncorrectedStreams: undefined,
          streamsWithLevel: undefined,
        }
      : profile;
  return repeatedRows === 'stored' ? { ...known, isUncompared: true } : known;
}

/**
 * The same profiles for one request, each made only once. A strategy that declines has often inspected the very rows that the next one
 * needs, and segments that still receive rows are not remembered.
 */
export function memoizedProfiles(profiler: ProfileSource): ProfileSource {
  const profiles = new Map<string, Promise<SelectionProfile>>();
  return {
    lastKnown: (request) => profiler.lastKnown(request),
    of: (request, range, listing) => {
      const key = `${keyOf(request)} ${range.startNs}-${range.endNs}`;
      const known = profiles.get(key);
      if (known !== undefined) return known;
      const profile = profiler.of(request, range, listing);
      profiles.set(key, profile);
      // A later request may succeed.
      profile.catch(() => profiles.delete(key));
      return profile;
    },
  };
}

function merged(found: readonly SegmentProfile[], range?: TimeRange): SelectionProfile {
  const streamsWithSharedTimes = new Set(found.flatMap((one) => [...one.streamsWithSharedTimes]));
  return {
    streamsWithSharedTimes,
    ...mergeRepeats(found, range),
    missing: found.reduce((sum, { missing }) => sum + missing, 0),
    hasLines: found.some(({ hasLines }) => hasLines),
    hasOverrides: found.some(({ hasOverrides }) => hasOverrides),
    misparsedRows: found.reduce((sum, { misparsedRows }) => sum + misparsedRows, 0),
    ...mergeUncertainty(found),
  };
}

/** The approximate size of a profile, which is mostly stream texts. */
export function bytesOfProfile(profile: SelectionProfile | SegmentProfile): number {
  const { streamsWithSharedTimes, uncertainStreams = [], streamsWithLevel = [], uncertainRows } = profile;
  let bytes = 200 + bytesOfRepeats(profile);
  for (const text of [...streamsWithSharedTimes, ...uncertainStreams, ...streamsWithLevel])
    bytes += 2 * text.length + 60;
  for (const { row, level } of uncertainRows) bytes += bytesOfRow(row) + 4 * level.length + 100;
  return bytes;
}

function keyOf({ upstream, selection, columns, misparsedRows, uncertainLines }: ProfileRequest): string {
  const asked = misparsedRows === undefined ? [] : [printFilter(misparsedRows)];
  if (uncertainLines !== undefined) asked.push(uncertainLines.key);
  return JSON.stringify([upstream.owner, columns, printFilter(selection), ...asked]);
}

/** Counts of one segment of a run, while groups are read. */
class SegmentCounter {
  readonly rows = new Map<string, number>();
  readonly sharingOf = new Map<string, number>();
  /** Number of rows that share their time with another row of their stream. */
  sharing = 0;
  allRows = 0;
  missing = 0;
  groups = 0;
  misparsedRows = 0;
  /** Number of rows with uncertain lines, by `_stream` text. */
  readonly uncertain = new Map<string, number>();
  readonly withLevel = new Set<string>();
  hasOverrides = false;
}

async function inspect(
  request: ProfileRequest,
  run: SegmentRun,
  checksums: StreamChecksums,
  known: Memory<KnownRepeats>,
): Promise<readonly SegmentProfile[]> {
  const { upstream, reader, naming, selection, columns, ...asked } = request;
  const { range, segments } = run;
  const named = (name: string): string => freeName(name, columns);
  const countIf = (condition: LogsqlFilter | undefined, name: string): readonly StatsFunction[] =>
    condition === undefined ? [] : [{ ...statsFunction('count', [], named(name)), condition }];
  const missing = missingLineRows(naming);
  const isCompared = asked.repeatedRows !== 'stored';
  const within = and(selection, run.within);
  const marker = run.marker(columns);
  const counting = stats(
    ['_stream', ...columns, ...marker.keys],
    statsFunction('count', [], named('rows')),
    ...(isCompared ? [statsFunction('count_uniq_hash', ['_time'], named('different'))] : []),
    ...countIf(asked.misparsedRows, 'unreliable'),
    // The placeholder text of a line that is not stored does not count.
    ...countIf(asked.uncertainLines && and(not(missing), asked.uncertainLines.filter), 'doubtful'),
    ...countIf(asked.uncertainLines?.withLevel, 'levels'),
  );
  // A filter for rows without a line makes the backend read no lines, while a condition in the other counts would. These rows are counted
  // last: rows that arrive in between can only raise the number of missing ones, and the segment is then inspected again.
  const countMissing = query(and(within, missing), [
    ...marker.pipes,
    stats(marker.keys, statsFunction('count', [], named('missing'))),
  ]);
  const mostGroups = maxGroups * segments.length;
  const pipes = [
    ...marker.pipes,
    ...(asked.uncertainLines?.pipes ?? []),
    counting,
    ...(columns.length === 0 ? [] : [limit(mostGroups)]),
    union(countMissing),
  ];
  const counts = segments.map(() => new SegmentCounter());
  let groups = 0;
  const counted = { query: query(within, pipes), range, lengthNs: run.lengthNs };
  for await (const batch of upstream.rows(counted)) {
    groups += batch.length;
    for (const row of batch) {
      const of = itemAt(counts, marker.indexOf(row));
      const rows = columnOf(row, named('rows'));
      if (rows === undefined) {
        of.missing += Number(columnOf(row, named('missing')));
        continue;
      }
      const text = row._stream ?? '{}';
      const before = of.rows.get(text);
      of.groups += 1;
      of.rows.set(text, (before ?? 0) + Number(rows));
      of.allRows += Number(rows);
      of.misparsedRows += Number(columnOf(row, named('unreliable')) ?? 0);
      const uncertain = Number(columnOf(row, named('doubtful')) ?? 0);
      if (uncertain > 0) of.uncertain.set(text, (of.uncertain.get(text) ?? 0) + uncertain);
      if (uncertain > 0 || Number(columnOf(row, named('levels')) ?? 0) > 0) of.withLevel.add(text);
      if (isCompared) {
        // Rows of one stream that are in different groups may still share times.
        const sharing = Number(rows) - Number(columnOf(row, named('different')));
        of.sharing += sharing;
        if (before !== undefined) of.sharingOf.set(text, NaN);
        else if (sharing !== 0) of.sharingOf.set(text, sharing);
      }
      const { fields } = reader.stream(text);
      if (columns.some((name) => (columnOf(row, name) ?? '') !== (fields.get(name) ?? '')))
        of.hasOverrides = true;
    }
  }
  if (columns.length > 0 && groups >= mostGroups) {
    const counted = await inspect({ ...request, columns: [] }, run, checksums, known);
    return counted.map((one) => ({ ...one, hasOverrides: true }));
  }
  const pacer = new Pacer();
  const sums: bigint[] = [];
  for (const { rows } of counts) sums.push(await atPace(checksums.of(reader, rows), pacer));
  const key = JSON.stringify([upstream.owner, printFilter(selection)]);
  const compared = { upstream, reader, naming, filter: within };
  const repeats = isCompared ? await knownRepeats(known, key, compared, run, counts, sums) : [];
  const isUncertain = counts.some(({ uncertain }) => uncertain.size > 0);
  const stored = { upstream, reader, naming, filter: and(within, not(missing)) };
  const uncertainRows =
    asked.uncertainLines && isUncertain
      ? await findUncertainRows(stored, asked.uncertainLines, run, counts)
      : [];
  return counts.map((found, index): SegmentProfile => ({
    streamsWithSharedTimes: new Set(found.sharingOf.keys()),
    missing: found.missing,
    hasLines: found.allRows > found.missing,
    misparsedRows: found.misparsedRows,
    uncertainStreams: new Set(found.uncertain.keys()),
    uncertainRows: uncertainRows[index] ?? [],
    streamsWithLevel: asked.uncertainLines?.withLevel && found.withLevel,
    checksum: sums[index] ?? 0n,
    ...(repeats[index] ?? noSegmentRepeats),
    hasOverrides: found.hasOverrides || (columns.length > 0 && found.groups >= maxGroups),
  }));
}

/** The rows that any of these filters matches; undefined if there are none. */
export function unitedRows(filters: readonly (LogsqlFilter | undefined)[]): LogsqlFilter | undefined {
  const given = filters.filter((filter) => filter !== undefined);
  return given.length === 0 ? undefined : or(...given);
}
