import { ofKey } from '../../base/memory/byte-lru.js';
import type { PatternResult, PatternsAnswer } from '../../wire/answer/types.js';
import type { PatternsRequest } from '../../wire/api/request.js';
import { rangeOfBoth } from '../../base/order.js';
import type { TimeRange } from '../../base/time/range.js';
import { cutWindows, sampledLinesOf, spreadSample, type PatternWindow } from './pattern-windows.js';
import { PatternFinder, type FoundPattern } from './drain/pattern-finder.js';
import { compilePatternFilter } from '../../logql/pipeline/filter-test.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { atPace, eachAtPace, Pacer } from '../../base/pace/steps.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { SelectedRows } from '../plan/types.js';
import { countLines, readWindows, type PatternBackend, type WindowLines } from './pattern-lines.js';

/** Loki's settings: minimum lines for a pattern to be shown, and maximum number of patterns shown. */
const minLines = 30;
const maxFound = 300;
/** Minimum occurrences of a pattern in a sample to be extrapolated. */
const minSampled = 3;
/** Maximum number of windows that a range is split into if not all of its lines can be read. */
const maxWindows = 24;
/** Maximum number of empty buckets in an answer; further ones are left out. */
const maxZeros = 500_000;
/** Bytes of a pair of numbers in its list. */
const sampleBytes = 48;
const secondNs = 1_000_000_000n;
const msNs = 1_000_000n;
/** Time for which Loki keeps patterns. */
const keptNs = 3n * 3_600n * secondNs;
/** Lines are counted in intervals of this many seconds, of which steps are made up. */
const countedSeconds = 10;
const countedNs = BigInt(countedSeconds) * secondNs;

/** The patterns of the selected lines, counted per bucket (docs/protocol/answers.md#patterns). */
export async function answerPatterns(
  { filter }: SelectedRows,
  request: PatternsRequest,
  context: PatternBackend,
): Promise<PatternsAnswer> {
  const { search, stepNs } = request;
  const range = countedRange(request.range);
  const windows = await windowsOf(filter, range, request, context);
  const read = await readWindows(filter, windows, search, context);
  const pacer = new Pacer(context.signal);
  const gathered = new Gathered(read, range, Number(stepNs / secondNs), context.memory);
  const custom: PatternResult[] = [];
  for (const pattern of search.custom) {
    const counts = await countCustom(pattern, read, pacer);
    custom.push({ pattern, level: undefined, samples: gathered.alone(counts) });
  }
  const mined = await findPatterns(read, pacer, context);
  await eachAtPace(mined, pacer, (found) => {
    gathered.add(found);
  });
  const own = new Set(search.custom);
  const found = gathered.biggest().filter(({ pattern }) => !own.has(pattern));
  const { meters } = context;
  meters.patterns_mined_pre_merge_total.add(mined.length, {});
  meters.patterns_mined_post_merge_total.add(gathered.size, {});
  meters.patterns_detected_total.add(found.length, {});
  if (isThin(read)) meters.patterns_low_coverage_responses_total.add(1, {});
  return { kind: 'patterns', patterns: [...custom, ...found].slice(0, request.limit), warnings: [] };
}

/** True if less than half of the lines were read. */
function isThin(read: readonly WindowLines[]): boolean {
  const sum = (count: (window: WindowLines) => number): number =>
    read.reduce((before, window) => before + count(window), 0);
  return sum(({ lines }) => lines.length) < sum(({ window }) => window.lines) / 2;
}

/**
 * The windows to read: the range, extended by the time from which Loki would have learned its patterns, if one request may read that much.
 */
async function windowsOf(
  filter: LogsqlFilter,
  range: TimeRange,
  { search, stepNs }: PatternsRequest,
  context: PatternBackend,
): Promise<readonly PatternWindow[]> {
  if (range.endNs <= range.startNs) return [];
  const learnt = learntRange(range, context.clock.nowNs());
  const around = await countLines(filter, learnt, stepNs, context);
  if (sampledLinesOf(around) <= search.maxRows) return cutWindows(around, learnt, stepNs, 1);
  const isMore = learnt.startNs < range.startNs || learnt.endNs > range.endNs;
  const histogram = isMore ? await countLines(filter, range, stepNs, context) : around;
  return cutWindows(histogram, range, stepNs, sampledLinesOf(histogram) <= search.maxRows ? 1 : maxWindows);
}

/** The time from which Loki has learned its patterns: the last hours up to now. It has no older ones. */
function learntRange(range: TimeRange, nowNs: bigint): TimeRange {
  const known = { startNs: nowNs - keptNs, endNs: nowNs };
  if (range.endNs <= known.startNs || range.startNs >= nowNs) return range;
  return rangeOfBoth(range, known);
}

/**
 * The range that contains the lines whose ten-second interval starts in the requested one: Loki counts by these intervals and selects the
 * counts.
 */
function countedRange({ startNs, endNs }: TimeRange): TimeRange {
  const nextCounted = (timeNs: bigint): bigint => ((timeNs + countedNs - 1n) / countedNs) * countedNs;
  return { startNs: nextCounted(startNs), endNs: nextCounted(endNs) };
}

async function findPatterns(
  read: readonly WindowLines[],
  pacer: Pacer,
  { meters }: PatternBackend,
): Promise<readonly FoundPattern[]> {
  const finder = new PatternFinder();
  let observed = 0;
  for (const [index, { window, lines }] of read.entries()) {
    const isSample = window.lines > lines.length;
    await eachAtPace(lines, pacer, (line) => {
      const timeMs = Number(line.timestampNs / msNs);
      if (finder.add({ ...line, timeMs }, bucketOf(index, isSample, line.timestampNs))) observed += 1;
    });
  }
  meters.patterns_source_lines_observed_total.add(observed, {});
  return atPace(finder.patterns(), pacer);
}

/** Counts configured patterns, which include all matching lines of any level. */
async function countCustom(
  pattern: string,
  read: readonly WindowLines[],
  pacer: Pacer,
): Promise<ReadonlyMap<number, number>> {
  const matches = compilePatternFilter(pattern);
  const counts = new Map<number, number>();
  for (const [index, { window, lines }] of read.entries())
    await eachAtPace(lines, pacer, ({ line, timestampNs }) => {
      if (!matches(line)) return;
      const bucket = bucketOf(index, window.lines > lines.length, timestampNs);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    });
  return counts;
}

/** The bucket of a line: its time in a window that was read completely, or the window as a negative number in a sample. */
function bucketOf(window: number, isSample: boolean, timestampNs: bigint): number {
  return isSample ? -1 - window : Number(((timestampNs / countedNs) * countedNs) / secondNs);
}

interface Gathering {
  readonly pattern: string;
  readonly level: string;
  readonly counts: StepCounts;
  size: number;
}

/** The patterns of all streams by text and level. */
class Gathered {
  readonly #read: readonly WindowLines[];
  readonly #fromSeconds: number;
  readonly #makeCounts: () => StepCounts;
  readonly #memory: MemoryAccount;
  readonly #byKey = new Map<string, Gathering>();
  #zeros = maxZeros;

  constructor(
    read: readonly WindowLines[],
    { startNs, endNs }: TimeRange,
    stepSeconds: number,
    memory: MemoryAccount,
  ) {
    this.#read = read;
    const [from, to] = [Number(startNs / secondNs), Number(endNs / secondNs)];
    this.#fromSeconds = from;
    this.#makeCounts = () => new StepCounts(stepSeconds, from, to);
    this.#memory = memory;
  }

  get size(): number {
    return this.#byKey.size;
  }

  add({ pattern, level, size, counts }: FoundPattern): void {
    const key = `${level.length} ${level} ${pattern}`;
    const make = (): Gathering => ({ pattern, level, counts: this.#makeCounts(), size: 0 });
    const known = ofKey(this.#byKey, key, make);
    known.size += size;
    this.#count(known.counts, counts);
  }

  alone(counts: ReadonlyMap<number, number>): PatternResult['samples'] {
    const sum = this.#makeCounts();
    this.#count(sum, counts);
    return sum.samples();
  }

  /** Patterns with enough lines, the most frequent first. */
  biggest(): readonly PatternResult[] {
    return [...this.#byKey.values()]
      .map(({ pattern, level, counts, size }) => {
        const samples = counts.samples();
        return { result: { pattern, level, samples }, size, lines: sampledLinesOf(samples) };
      })
      .filter(({ size, lines }) => lines >= minLines && size >= minSampled)
      .sort((a, b) => b.lines - a.lines || (a.result.pattern < b.result.pattern ? -1 : 1))
      .slice(0, maxFound)
      .map(({ result }) => result);
  }

  #count(sum: StepCounts, counts: ReadonlyMap<number, number>): void {
    const byTime = this.#byTime(counts);
    const added = sum.add(byTime, this.#zeros);
    this.#zeros -= Math.max(0, added - byTime.size);
    this.#memory.charge(added * sampleBytes, 'samples of patterns');
  }

  #byTime(counts: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
    const byTime = new Map<number, number>();
    const add = (seconds: number, lines: number): void => {
      byTime.set(seconds, (byTime.get(seconds) ?? 0) + lines);
    };
    for (const [bucket, count] of counts) {
      const sampled = bucket < 0 ? this.#read[-1 - bucket] : undefined;
      if (sampled === undefined) add(bucket, count);
      else
        for (const [seconds, lines] of spreadSample(sampled.window, count, sampled.lines.length))
          add(Math.max(seconds, this.#fromSeconds), lines);
    }
    return byTime;
  }
}

type Samples = PatternResult['samples'];
/** Loki keeps the counts of a pattern in chunks of this length, and shows zeros only within a chunk. */
const chunkSeconds = 3600;

/** Sums the counts of patterns with the same text by step, with zeros between the first and the last of every chunk. */
class StepCounts {
  readonly #stepSeconds: number;
  readonly #fromSeconds: number;
  readonly #toSeconds: number;
  readonly #sums = new Map<number, number>();

  /** Counts outside of these times are ignored. */
  constructor(stepSeconds: number, fromSeconds: number, toSeconds: number) {
    this.#stepSeconds = stepSeconds;
    this.#fromSeconds = fromSeconds;
    this.#toSeconds = toSeconds;
  }

  /** Adds counts by time, with at most `maxZeros` zeros; returns the number of added buckets. */
  add(counts: ReadonlyMap<number, number>, maxZeros: number): number {
    const before = this.#sums.size;
    const maxSize = before + counts.size + maxZeros;
    let [chunkStart, last] = [-Infinity, Infinity];
    for (const [seconds, lines] of [...counts].sort(([a], [b]) => a - b)) {
      if (seconds - chunkStart >= chunkSeconds) [chunkStart, last] = [seconds, Infinity];
      if (seconds < this.#fromSeconds || seconds >= this.#toSeconds) continue;
      const bucket = seconds - (seconds % this.#stepSeconds);
      if (this.#stepSeconds !== countedSeconds)
        for (
          let empty = last + this.#stepSeconds;
          empty < bucket && this.#sums.size < maxSize;
          empty += this.#stepSeconds
        )
          this.#count(empty, 0);
      this.#count(bucket, lines);
      last = bucket;
    }
    return this.#sums.size - before;
  }

  samples(): Samples {
    return [...this.#sums].sort(([a], [b]) => a - b);
  }

  #count(seconds: number, lines: number): void {
    this.#sums.set(seconds, (this.#sums.get(seconds) ?? 0) + lines);
  }
}
