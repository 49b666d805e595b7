import type { TimeRange } from '../../base/time/range.js';

/** A stretch of a stream for counting volumes, as Loki counts them by chunk. */
export interface VolumePiece {
  /** The times of its first and last entry. */
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly entries: number;
  readonly bytes: number;
}

/** The part of a piece in one bucket. */
export interface BucketShare {
  readonly index: number;
  readonly bytes: number;
}

const kib = 1024;
const msNs = 1_000_000n;

/** The buckets of a volume over a range: boundaries are multiples of the step, and the first and last bucket are cut to the range. */
export class VolumeBuckets {
  readonly #range: TimeRange;
  readonly #stepNs: bigint;
  /** The boundary at or before the start. */
  readonly #originNs: bigint;
  readonly count: number;

  constructor(range: TimeRange, stepNs: bigint) {
    this.#range = range;
    this.#stepNs = stepNs;
    this.#originNs = range.startNs - (range.startNs % stepNs);
    const span = range.endNs - this.#originNs;
    this.count = span <= 0n ? 1 : Number((span + stepNs - 1n) / stepNs);
  }

  /** The timestamp of a bucket's sample: a millisecond before the next bucket, or the end of the range. */
  stampMs(index: number): number {
    const nextNs = this.#originNs + BigInt(index + 1) * this.#stepNs;
    const { endNs } = this.#range;
    return nextNs >= endNs ? Math.round(Number(endNs) / Number(msNs)) : Number(nextNs / msNs) - 1;
  }

  /**
   * Spreads a piece evenly over the time between its first and last entry. Every share is whole KiB, rounded down; a bucket without entries
   * gets no share.
   */
  *sharesOf(piece: VolumePiece): Generator<BucketShare> {
    const { firstNs, lastNs, entries } = piece;
    const whole = Math.round(piece.bytes / kib);
    const [from, to] = [this.#indexOf(firstNs), this.#indexOf(lastNs)];
    if (from === to) {
      yield { index: from, bytes: whole * kib };
      return;
    }
    const span = Number(lastNs - firstNs);
    for (let index = from; index <= to; index += 1) {
      const startNs = this.#originNs + BigInt(index) * this.#stepNs;
      const endNs = startNs + this.#stepNs;
      const overlap = Number((lastNs < endNs ? lastNs : endNs) - (firstNs > startNs ? firstNs : startNs));
      const share = overlap / span;
      if (Math.floor(entries * share) > 0) yield { index, bytes: Math.floor(whole * share) * kib };
    }
  }

  #indexOf(timeNs: bigint): number {
    const index = Number((timeNs - this.#originNs) / this.#stepNs);
    return Math.min(Math.max(index, 0), this.count - 1);
  }
}
