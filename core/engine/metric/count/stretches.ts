import { createHash, randomBytes } from 'node:crypto';
import type { Memory } from '../../../base/memory/byte-lru.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace, type Steps } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { GroupKey, LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { query, timeBucket } from '../../../victoria/logsql/build.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { BackendRow, BackendValue, Upstream } from '../../../victoria/upstream/types.js';

/** What was found in one stretch of time. */
export interface Found {
  /** A checksum of its number of rows per stream. */
  readonly tally: bigint;
}

/** What is looked at. */
export interface Looked {
  /** Tells apart what is looked for, and where. */
  readonly key: string;
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly selection: LogsqlFilter;
}

/** How findings are made. */
export interface Looking<Finding extends Found> {
  /** Gives a finding for each stretch, in their order. */
  readonly look: (run: Run) => Promise<readonly Finding[]>;
  /** Whether to do without findings of stretches that have so many rows; by default they are always made. */
  readonly skips?: (rows: number) => boolean;
}

/** What is known of a range. */
export interface Findings<Finding> {
  /** In any order. */
  readonly found: readonly Finding[];
  /** Whether stretches were skipped. */
  readonly isIncomplete: boolean;
}

const keptMs = 86_400_000;
/** Parallel looks, in addition to the statistics themselves. */
const parallel = 4;
/**
 * The most rows that are looked at in one call. The backend reads whole blocks, which may hold hours of a stream, for a stretch of minutes, so
 * that one call for many stretches takes little longer than one for each.
 */
const mostRows = 1_000_000;

/** A stretch, and what its finding is remembered by. */
interface KeyedStretch extends Stretch {
  readonly key: string;
}

/** Stretches of equal length, one after the other. */
export class Run {
  readonly stretches: readonly KeyedStretch[];
  readonly range: TimeRange;
  /** Of each of them. */
  readonly lengthNs: bigint;

  constructor(first: KeyedStretch, others: readonly KeyedStretch[] = []) {
    this.stretches = [first, ...others];
    this.range = { startNs: first.startNs, endNs: (others.at(-1) ?? first).endNs };
    this.lengthNs = first.endNs - first.startNs;
  }

  /** By what to count, so that rows of different stretches are told apart; stretches begin a nanosecond late. */
  get buckets(): readonly GroupKey[] {
    return this.stretches.length > 1 ? [timeBucket(this.lengthNs, -1n)] : [];
  }

  /** The one of these, which belong to the stretches, that a row belongs to, which may stand for a bucket. */
  of<Item>(items: readonly Item[], { _time = '' }: BackendRow): Item {
    const item = items[this.stretches.length > 1 ? this.indexOf(parseRowTime(_time)) : 0];
    if (item === undefined) throw new Error(`the backend sent a row outside of the range, of ${_time}`);
    return item;
  }

  /** The place of the stretch with this time among them. */
  indexOf(timeNs: bigint): number {
    return Number((timeNs - this.range.startNs) / this.lengthNs);
  }
}

/**
 * Remembers what was found in a selection by whole stretches of time. It stays valid while each stream has the same number of rows in its
 * stretch, which one listing shows.
 */
export class Stretches<Finding extends Found> {
  readonly #memory: Memory<Finding>;
  readonly #bytesOf: (finding: Finding) => number;

  constructor(memory: Memory<Finding>, bytesOf: (finding: Finding) => number) {
    this.#memory = memory;
    this.#bytesOf = bytesOf;
  }

  /**
   * The findings of all stretches of a range; `look` finds what is not known.
   * @param listed the streams of the whole range
   */
  async of(
    looked: Looked,
    range: TimeRange,
    listed: readonly BackendValue[],
    { look, skips = () => false }: Looking<Finding>,
  ): Promise<Findings<Finding>> {
    const stretches = stretchesOf(range).map((stretch) => ({
      ...stretch,
      key: `${looked.key} ${stretch.startNs}-${stretch.endNs}`,
    }));
    const known = stretches.map(({ key }) => this.#memory.get(key));
    // What is not known is looked at meanwhile.
    const unchanged = areUnchanged(looked, stretches, known, { range, listed });
    const findings: Finding[] = [];
    const mostOfAll = mostOfRun(range, listed);
    let isIncomplete = false;
    const lookAt = async (some: typeof stretches): Promise<void> => {
      if (some.length > 0 && skips(rowsIn(some, range, listed))) {
        isIncomplete = true;
        return;
      }
      const queue = runsOf(some, mostOfAll).values();
      const worker = async (): Promise<void> => {
        for (const run of queue) {
          const found = await look(run);
          findings.push(...found);
          for (const [index, finding] of found.entries()) this.#remember(run.stretches[index], finding);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
    };
    const [isUnchanged] = await Promise.all([
      unchanged,
      lookAt(stretches.filter((_stretch, index) => known[index] === undefined)),
    ]);
    if (isUnchanged) findings.push(...known.flatMap((found) => found ?? []));
    else await lookAt(stretches.filter((_stretch, index) => known[index] !== undefined));
    return { found: findings, isIncomplete };
  }

  #remember(stretch: KeyedStretch | undefined, finding: Finding): void {
    if (stretch?.isWhole === true) this.#memory.set(stretch.key, finding, this.#bytesOf(finding), keptMs);
  }
}

/** About as many rows as stretches have, if the rows of a range are spread evenly. */
function rowsIn(
  stretches: readonly TimeRange[],
  { startNs, endNs }: TimeRange,
  listed: readonly BackendValue[],
): number {
  const lengthNs = stretches.reduce((sum, stretch) => sum + stretch.endNs - stretch.startNs, 0n);
  const rows = listed.reduce((sum, { hits }) => sum + hits, 0);
  return (rows * Number(lengthNs)) / Number(endNs - startNs);
}

/** The longest run that should not have too many rows. */
function mostOfRun({ startNs, endNs }: TimeRange, listed: readonly BackendValue[]): bigint {
  const rows = listed.reduce((sum, { hits }) => sum + hits, 0);
  return rows <= mostRows ? endNs - startNs : ((endNs - startNs) * BigInt(mostRows)) / BigInt(rows);
}

/** Puts whole stretches together that follow one another and are equally long; there may be gaps in the list. */
function runsOf(stretches: readonly KeyedStretch[], mostNs: bigint): readonly Run[] {
  const runs: [first: KeyedStretch, ...others: KeyedStretch[]][] = [];
  for (const stretch of stretches) {
    const { isWhole, startNs, endNs } = stretch;
    const run = runs.at(-1);
    const [first, last] = [run?.[0], run?.at(-1)];
    const isNext =
      isWhole &&
      last?.endNs === startNs &&
      last.endNs - last.startNs === endNs - startNs &&
      endNs - (first?.startNs ?? startNs) <= mostNs;
    if (isNext) run?.push(stretch);
    else runs.push([stretch]);
  }
  return runs.map(([first, ...others]) => new Run(first, others));
}

/** Whether each stream still has the same number of rows over all cached stretches together. */
async function areUnchanged(
  { upstream, reader, selection }: Looked,
  stretches: readonly TimeRange[],
  findings: readonly (Found | undefined)[],
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
  const tally = await tallyOfListing(reader, listed);
  return tally === addTallies(findings.flatMap((finding) => finding?.tally ?? []));
}

/** The checksum of listed streams. */
export function tallyOfListing(reader: RowReader, listed: readonly BackendValue[]): Promise<bigint> {
  const rows = listed.map(({ value, hits }) => [value, hits] as const);
  return atPace(tallyOf(reader, rows), new Pacer());
}

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
