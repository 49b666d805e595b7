import { ByteLru } from '../../core/base/memory/byte-lru.js';
import type { Clock } from '../../core/base/clock.js';
import type { Matcher } from '../../core/logql/ast.js';
import type { TimeWindow } from './windows.js';

/**
 * The rows that a query reads of a selector. For a window these are the lines from `lookbackMs` before its start to its end, shifted back
 * by `offsetMs`.
 */
export interface SelectorRead {
  readonly matchers: readonly Matcher[];
  readonly lookbackMs: number;
  readonly offsetMs: number;
}

export interface LineCounter {
  /** Counts the rows of streams from the first time to the last, by the start of their bucket in Unix milliseconds. */
  count(
    matchers: readonly Matcher[],
    bucketMs: number,
    firstMs: number,
    lastMs: number,
  ): Promise<ReadonlyMap<number, number>>;
  /** A key that is equal for counts of the same rows in the same buckets. */
  keyOf(matchers: readonly Matcher[], bucketMs: number): string;
}

interface Count {
  readonly lines: number;
  readonly atMs: number;
}

const maxSelections = 1_000;
const maxBytes = 16 * 1024 * 1024;
const bucketBytes = 64;
/** Maximum number of buckets that a window may read to be worth counting. */
const maxBuckets = 64;

/**
 * Numbers of lines that windows read, by selector. The number is part of a window's cache key: a line that arrives late changes the key,
 * and the window is requested again. Counts older than `-query-range-history-revalidate` are requested again, those of a whole range in one
 * call.
 */
export class LineCounts {
  readonly #maxAgeMs: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #known: ByteLru<Map<number, Count>>;

  constructor(maxAgeMs: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#maxAgeMs = maxAgeMs;
    this.#clock = clock;
    this.#known = new ByteLru({ maxEntries: maxSelections, maxBytes, clock });
  }

  clear(): void {
    this.#known.clear();
  }

  /** The number of lines that each window reads of each selector; undefined for a window that reads too much. */
  async of(
    windows: readonly TimeWindow[],
    readings: readonly SelectorRead[],
    counter: LineCounter,
  ): Promise<readonly (readonly number[] | undefined)[]> {
    const byReading = await Promise.all(
      readings.map((reading) => this.#ofReading(windows, reading, counter)),
    );
    return windows.map((window) => {
      const counts = byReading.map((found) => found.get(window));
      return counts.every((lines) => lines !== undefined) ? counts : undefined;
    });
  }

  /** Counts all windows of the same length together. */
  async #ofReading(
    windows: readonly TimeWindow[],
    reading: SelectorRead,
    counter: LineCounter,
  ): Promise<ReadonlyMap<TimeWindow, number>> {
    const found = new Map<TimeWindow, number>();
    const lengthOf = ({ startMs, endMs }: TimeWindow): number => endMs - startMs;
    for (const lengthMs of new Set(windows.map(lengthOf))) {
      const same = windows.filter((window) => lengthOf(window) === lengthMs);
      const lines = await this.#ofLength(same, lengthMs, reading, counter);
      for (const [place, window] of same.entries()) {
        const own = lines?.[place];
        if (own !== undefined) found.set(window, own);
      }
    }
    return found;
  }

  async #ofLength(
    windows: readonly TimeWindow[],
    bucketMs: number,
    { matchers, lookbackMs, offsetMs }: SelectorRead,
    counter: LineCounter,
  ): Promise<readonly number[] | undefined> {
    const spans = windows.map(({ startMs, endMs }): readonly [from: number, to: number] => [
      Math.floor((startMs - lookbackMs - offsetMs) / bucketMs),
      Math.ceil((endMs - offsetMs) / bucketMs) - 1,
    ]);
    if (spans.some(([from, to]) => to - from >= maxBuckets)) return undefined;
    const key = counter.keyOf(matchers, bucketMs);
    const known = this.#known.get(key) ?? new Map<number, Count>();
    const stale = this.#stale(known, spans);
    if (stale !== undefined) {
      const atMs = this.#clock.monotonicMs();
      const [from, to] = stale;
      const lines = await counter.count(matchers, bucketMs, from * bucketMs, (to + 1) * bucketMs);
      for (let bucket = from; bucket <= to; bucket += 1)
        known.set(bucket, { lines: lines.get(bucket * bucketMs) ?? 0, atMs });
    }
    this.#known.set(key, known, known.size * bucketBytes, Infinity);
    return spans.map(([from, to]) => {
      let lines = 0;
      for (let bucket = from; bucket <= to; bucket += 1) lines += known.get(bucket)?.lines ?? 0;
      return lines;
    });
  }

  /** The first and last bucket that must be counted again; undefined for none. */
  #stale(
    known: ReadonlyMap<number, Count>,
    spans: readonly (readonly [from: number, to: number])[],
  ): readonly [from: number, to: number] | undefined {
    const nowMs = this.#clock.monotonicMs();
    let [from, to] = [Infinity, -Infinity];
    for (const [first, last] of spans) {
      for (let bucket = first; bucket <= last; bucket += 1) {
        const found = known.get(bucket);
        if (found !== undefined && nowMs - found.atMs < this.#maxAgeMs) continue;
        from = Math.min(from, bucket);
        to = Math.max(to, bucket);
      }
    }
    return from > to ? undefined : [from, to];
  }
}
