import { createHash, randomBytes } from 'node:crypto';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { freeName, limit, query, stats, statsFunction } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import { columnOf, type Upstream, type BackendValue } from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { Steps } from '../../../base/pace/steps.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';

/** Decides to what extent a selection's rows can be counted instead of read. */
export interface SelectionProfile {
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly streamsWithSharedTimes: ReadonlySet<string>;
  /** Rows without a stored line. */
  readonly missing: number;
  /** Whether any row has a different value in one of the columns than its stream has in that field. */
  readonly isHidden: boolean;
  /** The number of rows that match the requested `unreliable` filter. */
  readonly unreliable: number;
}

export interface ProfileRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  readonly selection: LogsqlFilter;
  /** Stream fields. */
  readonly columns: readonly string[];
  /** Matches rows that the backend would count wrongly. */
  readonly unreliable?: LogsqlFilter | undefined;
}

/** The profile of one stretch of time. */
export interface StretchProfile extends SelectionProfile {
  /** A checksum of its number of rows per stream. */
  readonly tally: bigint;
}

const keptMs = 86_400_000;
/** How long the profile of another range is used as a guess. */
const expectedMs = 600_000;
/** The most groups of a stretch; beyond that, columns are treated as independent of streams. */
const maxGroups = 50_000;
/** Parallel calls, in addition to the statistics themselves. */
const parallel = 4;
const minuteNs = 60_000_000_000n;
/** The most long stretches in one range; a longer range uses longer stretches. */
const maxStretches = 14n;
/** Stretch lengths in minutes, each with the length of the short stretches at both ends of a range. */
const lengths = [
  [5n, 5n],
  [15n, 5n],
  [60n, 5n],
  [240n, 60n],
  [1440n, 240n],
  [10_080n, 1440n],
] as const;

export const plainProfile: SelectionProfile = {
  streamsWithSharedTimes: new Set(),
  missing: 0,
  isHidden: false,
  unreliable: 0,
};

/**
 * Profiles selections and caches the result by whole stretches of time. A cached profile stays valid while each stream has the same number
 * of rows in its stretch, which one listing shows.
 */
export class SelectionProfiler {
  readonly #findings: Memory<StretchProfile>;
  readonly #latest: Memory<SelectionProfile>;

  /**
   * @param findings profiles of stretches
   * @param latest profiles of whole selections
   */
  constructor(findings: Memory<StretchProfile>, latest: Memory<SelectionProfile>) {
    this.#findings = findings;
    this.#latest = latest;
  }

  /** The latest profile of a selection, for whatever range. */
  expected(request: ProfileRequest): SelectionProfile {
    return this.#latest.get(keyOf(request)) ?? plainProfile;
  }

  /** @param listed the streams of the whole range */
  async of(
    request: ProfileRequest,
    range: TimeRange,
    listed: readonly BackendValue[],
  ): Promise<SelectionProfile> {
    const text = keyOf(request);
    const stretches = stretchesOf(range).map((stretch) => ({
      ...stretch,
      key: `${text} ${stretch.startNs}-${stretch.endNs}`,
    }));
    const known = stretches.map(({ key }) => this.#findings.get(key));
    const isUnchanged = await areUnchanged(request, stretches, known, { range, listed });
    const streamsWithSharedTimes = new Set<string>();
    let missing = 0;
    let isHidden = false;
    let unreliable = 0;
    const queue = stretches.entries();
    const worker = async (): Promise<void> => {
      for (const [index, { isWhole, key, startNs, endNs }] of queue) {
        const found = (isUnchanged ? known[index] : undefined) ?? (await look(request, { startNs, endNs }));
        if (isWhole) this.#findings.set(key, found, bytesOf(found), keptMs);
        for (const stream of found.streamsWithSharedTimes) streamsWithSharedTimes.add(stream);
        missing += found.missing;
        isHidden ||= found.isHidden;
        unreliable += found.unreliable;
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    const profile = { streamsWithSharedTimes, missing, isHidden, unreliable };
    this.#latest.set(text, profile, bytesOf(profile), expectedMs);
    return profile;
  }
}

/** Whether each stream still has the same number of rows over all cached stretches together. */
async function areUnchanged(
  { upstream, reader, selection }: ProfileRequest,
  stretches: readonly TimeRange[],
  findings: readonly (StretchProfile | undefined)[],
  whole: { readonly range: TimeRange; readonly listed: readonly BackendValue[] },
): Promise<boolean> {
  const known = stretches.filter((_stretch, index) => findings[index] !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return false;
  const isGapless = known.every(({ endNs }, index) => endNs === (known[index + 1]?.startNs ?? endNs));
  if (!isGapless) return false;
  const range = { startNs: first.startNs, endNs: last.endNs };
  const isAll = range.startNs === whole.range.startNs && range.endNs === whole.range.endNs;
  const listed = isAll
    ? whole.listed
    : await upstream.list({ listing: 'streams', query: query(selection), range });
  const rows = listed.map(({ value, hits }) => [value, hits] as const);
  const tally = await atPace(tallyOf(reader, rows), new Pacer());
  return tally === addTallies(findings.flatMap((finding) => finding?.tally ?? []));
}

/** The approximate size of a profile, which is mostly stream texts. */
function bytesOf({ streamsWithSharedTimes }: SelectionProfile): number {
  let bytes = 200;
  for (const text of streamsWithSharedTimes) bytes += 2 * text.length + 60;
  return bytes;
}

function keyOf({ upstream, selection, columns, unreliable }: ProfileRequest): string {
  const asked = unreliable === undefined ? [] : [printFilter(unreliable)];
  return JSON.stringify([upstream.owner, columns, printFilter(selection), ...asked]);
}

async function look(
  { upstream, reader, naming, selection, columns, unreliable: unreliableRows }: ProfileRequest,
  range: TimeRange,
): Promise<StretchProfile> {
  const named = (name: string): string => freeName(name, columns);
  const counting = stats(
    ['_stream', ...columns],
    statsFunction('count', [], named('rows')),
    statsFunction('count_uniq_hash', ['_time'], named('different')),
    { ...statsFunction('count', [], named('missing')), condition: missingLineRows(naming) },
    ...(unreliableRows === undefined
      ? []
      : [{ ...statsFunction('count', [], named('odd')), condition: unreliableRows }]),
  );
  const pipes = columns.length === 0 ? [counting] : [counting, limit(maxGroups)];
  const rows = new Map<string, number>();
  const streamsWithSharedTimes = new Set<string>();
  let [missing, groups, unreliable, isHidden] = [0, 0, 0, false];
  for await (const batch of upstream.rows({ query: query(selection, pipes), range })) {
    groups += batch.length;
    for (const row of batch) {
      const text = row._stream ?? '{}';
      const before = rows.get(text);
      rows.set(text, (before ?? 0) + Number(columnOf(row, named('rows'))));
      missing += Number(columnOf(row, named('missing')));
      unreliable += Number(columnOf(row, named('odd')) ?? 0);
      // Rows of one stream in several groups may still share times.
      if (before !== undefined || columnOf(row, named('rows')) !== columnOf(row, named('different')))
        streamsWithSharedTimes.add(text);
      const { fields } = reader.stream(text);
      isHidden ||= columns.some((name) => (columnOf(row, name) ?? '') !== (fields.get(name) ?? ''));
    }
  }
  const tally = await atPace(tallyOf(reader, rows), new Pacer());
  return {
    tally,
    streamsWithSharedTimes,
    missing,
    unreliable,
    isHidden: isHidden || (columns.length > 0 && groups >= maxGroups),
  };
}

export interface Stretch extends TimeRange {
  /** Whether the stretch has one of the standard lengths, which are worth caching. */
  readonly isWhole: boolean;
}

/** Splits a range into whole hours (or other lengths, for short and long ranges), shorter stretches, and the rest at both ends. */
export function stretchesOf(range: TimeRange): readonly Stretch[] {
  const spanNs = range.endNs - range.startNs;
  const fitting = lengths.find(([long]) => spanNs / (long * minuteNs) < maxStretches);
  if (fitting === undefined) return [{ ...range, isWhole: false }];
  const [long, short] = fitting;
  return cut(range, long * minuteNs).flatMap((stretch) =>
    stretch.isWhole ? [stretch] : cut(stretch, short * minuteNs),
  );
}

/**
 * Splits a range after the multiples of a length, because windows include their end instead of their start; shorter pieces remain at both
 * ends.
 */
function cut({ startNs, endNs }: TimeRange, lengthNs: bigint): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = startNs; at < endNs;) {
    const border = ((at - 1n) / lengthNs + 1n) * lengthNs + 1n;
    const next = border < endNs ? border : endNs;
    stretches.push({ startNs: at, endNs: next, isWhole: next - at === lengthNs });
    at = next;
  }
  return stretches;
}

/** Prevents clients from choosing streams whose hashes add up to the same checksum. */
const salt = randomBytes(16);
/** Streams added per step. */
const stepStreams = 100;
const mask = (1n << 64n) - 1n;
const words = new WeakMap<StreamIdentity, bigint>();

/**
 * A checksum of the number of rows per stream: different counts have the same checksum with a probability of 2^-64. The checksums of
 * stretches add up to that of the whole range.
 */
export function* tallyOf(
  reader: RowReader,
  streams: Iterable<readonly [text: string, rows: number]>,
): Steps<bigint> {
  let sum = 0n;
  let count = 0;
  for (const [text, rows] of streams) {
    sum += wordOf(reader.stream(text), text) * BigInt(rows);
    count += 1;
    if (count % stepStreams === 0) yield;
  }
  return sum & mask;
}

/** The checksum of several stretches. */
export function addTallies(tallies: readonly bigint[]): bigint {
  return tallies.reduce((sum, tally) => sum + tally, 0n) & mask;
}

function wordOf(stream: StreamIdentity, text: string): bigint {
  let word = words.get(stream);
  if (word === undefined) {
    word = createHash('sha256').update(salt).update(text).digest().readBigUInt64LE();
    words.set(stream, word);
  }
  return word;
}
