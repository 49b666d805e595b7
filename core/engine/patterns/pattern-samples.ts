import type { PatternResult } from '../../wire/answer/types.js';

export type Samples = PatternResult['samples'];

/** Lines are counted by this many seconds, and steps are made of that. */
export const countedSeconds = 10;
/** Loki keeps the counts of a pattern in chunks of this length, and shows zeros only within one. */
const chunkSeconds = 3600;

/** Sums the counts of patterns with one text by step, with zeros between the first and the last of every chunk. */
export class StepCounts {
  readonly #stepSeconds: number;
  readonly #fromSeconds: number;
  readonly #toSeconds: number;
  readonly #sums = new Map<number, number>();

  /** Counts outside of the times are left out. */
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
