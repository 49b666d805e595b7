import type { TimeRange } from '../../base/time/range.js';

/** A segment of a stream for counting volumes, which Loki counts by chunk. */
export interface VolumePiece {
  /** The times of the first and last entry. */
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly entries: number;
  /** Whole bytes. */
  readonly bytes: number;
}

export interface BucketShare {
  readonly index: number;
  readonly bytes: number;
}

const kib = 1024;
const msNs = 1_000_000n;
const secondNs = 1_000_000_000n;
const hourNs = 3_600_000_000_000n;
const minuteNs = 60_000_000_000n;
/**
 * Age up to which Loki counts in bytes, as its ingesters do for open chunks. Its index counts older chunks in KiB, so that small ones
 * disappear from a bucket.
 */
const countedInBytesNs = 24n * hourNs;
/** Loki rejects entries that are further in the future than this. */
const graceNs = 10n * minuteNs;

/** The buckets of a volume over a range. Bounds are multiples of the step, and the first and last bucket are cut to the range. */
export class VolumeBuckets {
  readonly #range: TimeRange;
  readonly #stepNs: bigint;
  readonly #nowNs: bigint;
  /** The bound at or before the start. */
  readonly #originNs: bigint;
  readonly count: number;

  constructor(range: TimeRange, stepNs: bigint, nowNs: bigint) {
    this.#range = range;
    this.#stepNs = stepNs;
    this.#nowNs = nowNs;
    this.#originNs = range.startNs - (range.startNs % stepNs);
    const span = range.endNs - this.#originNs;
    this.count = span <= 0n ? 1 : Number((span + stepNs - 1n) / stepNs);
  }

  /** The timestamp of a bucket's sample: one millisecond before the next bucket, or the end of the range. */
  stampMs(index: number): number {
    const nextNs = this.#originNs + BigInt(index + 1) * this.#stepNs;
    const { endNs } = this.#range;
    return nextNs >= endNs ? Math.round(Number(endNs) / Number(msNs)) : Number(nextNs / msNs) - 1;
  }

  /** The timestamp of the sample of the bucket that has the time just before this one. */
  stampOf(timestampMs: number): number {
    return this.stampMs(this.#indexOf(BigInt(timestampMs) * msNs - 1n));
  }

  /**
   * Spreads a piece evenly over the time between its first and last entry. Shares are whole bytes that add up to the piece's bytes. For an
   * old piece they follow Loki's index: whole KiB, each rounded down, and no share for a bucket without entries.
   */
  *sharesOf(piece: VolumePiece): Generator<BucketShare> {
    const parts = this.#partsOf(piece);
    if (this.#isOld(piece.lastNs)) {
      const whole = Math.round(piece.bytes / kib);
      for (const [index, part] of parts)
        if (Math.floor(piece.entries * part) > 0) yield { index, bytes: Math.floor(whole * part) * kib };
      return;
    }
    let [covered, given] = [0, 0];
    for (const [position, [index, part]] of parts.entries()) {
      covered += part;
      const upTo = position === parts.length - 1 ? piece.bytes : Math.round(piece.bytes * covered);
      yield { index, bytes: upTo - given };
      given = upTo;
    }
  }

  /** The buckets of a piece, with its share of time in each. Loki ignores the last second of a bucket: a piece does not start there. */
  #partsOf({ firstNs, lastNs }: VolumePiece): readonly (readonly [index: number, part: number])[] {
    const seenNs = this.#stepNs > secondNs ? firstNs + secondNs : firstNs;
    const [from, to] = [this.#indexOf(seenNs < lastNs ? seenNs : lastNs), this.#indexOf(lastNs)];
    if (from === to) return [[from, 1]];
    const span = Number(lastNs - firstNs);
    return Array.from({ length: to - from + 1 }, (_part, offset) => {
      const startNs = this.#originNs + BigInt(from + offset) * this.#stepNs;
      const endNs = startNs + this.#stepNs;
      const overlap = (lastNs < endNs ? lastNs : endNs) - (offset === 0 ? firstNs : startNs);
      return [from + offset, Number(overlap) / span];
    });
  }

  #isOld(timeNs: bigint): boolean {
    return timeNs < this.#nowNs - countedInBytesNs || timeNs > this.#nowNs + graceNs;
  }

  #indexOf(timeNs: bigint): number {
    const index = Number((timeNs - this.#originNs) / this.#stepNs);
    return Math.min(Math.max(index, 0), this.count - 1);
  }
}
