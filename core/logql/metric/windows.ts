import type { LogRange } from '../ast.js';
import type { Columns } from './columns.js';

const maxExactNs = 2 ** 53;
const nsPerMs = 1_000_000;

/**
 * Cuts time into buckets such that the window `(t - range, t]` of every column is a run of whole buckets: as many for each,
 * and each beginning a fixed number of buckets after the one before.
 *
 * Every step is one bucket, or two when the range is no multiple of the step: the windows' left edges then lie inside of
 * steps. What lies between the last left edge and the first column is in all windows, and one bucket however long it is.
 */
export class Windows {
  readonly columns: number;
  /** All buckets; 0 when no window holds any time. */
  readonly buckets: number;
  /** Buckets of one window. */
  readonly width: number;
  /** The first bucket of the first window. */
  readonly first: number;
  /** How many buckets later the next window begins: 1 or 2. */
  readonly stride: number;
  /** Seconds of the range. */
  readonly rangeSeconds: number;
  /** All buckets together are `(startNs, endNs]`; offsets count from startNs. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** How far behind startNs the sample of the last `bucketOf` lay, in nanoseconds (to 104 days exactly). */
  offsetNs = 0;

  readonly #isExact: boolean;
  readonly #stepNs: number;
  readonly #spanNs: number;
  /** Where the second bucket of a step begins, behind the step's begin. */
  readonly #cutNs: number;
  readonly #coreFirst: number;
  readonly #coreExtra: number;

  constructor(columns: Columns, { intervalNanoseconds, offsetNanoseconds }: LogRange) {
    const rangeMs = Number(intervalNanoseconds / 1_000_000n);
    const stepMs = columns.stepMs === 0 ? Math.max(rangeMs, 1) : columns.stepMs;
    const whole = Math.floor(rangeMs / stepMs);
    const restMs = rangeMs - whole * stepMs;
    const hasRest = restMs > 0;
    const lead = whole + (hasRest ? 1 : 0);
    const extra = Math.max(whole - columns.count, 0);
    this.columns = columns.count;
    this.stride = hasRest ? 2 : 1;
    this.first = hasRest ? 1 : 0;
    this.width = (whole - extra) * this.stride + (hasRest ? 1 : 0);
    this.buckets = rangeMs === 0 ? 0 : Math.max(columns.count + lead - 1 - extra, 0) * this.stride;
    this.rangeSeconds = rangeMs / 1000;
    const steps = BigInt(Math.max(columns.count - 1, 0));
    this.startNs = columns.firstNs - offsetNanoseconds - BigInt(lead * stepMs) * 1_000_000n;
    this.endNs = columns.firstNs - offsetNanoseconds + steps * BigInt(stepMs) * 1_000_000n;
    this.#stepNs = stepMs * nsPerMs;
    this.#spanNs = Number(this.endNs - this.startNs);
    this.#isExact = this.#spanNs < maxExactNs;
    this.#cutNs = (stepMs - restMs) * nsPerMs;
    this.#coreFirst = columns.count - 1 + lead - whole;
    this.#coreExtra = extra;
  }

  /** The first and last moment of samples that can matter, in nanoseconds: both belong to it. */
  get interval(): { readonly fromNs: bigint; readonly toNs: bigint } {
    const cut = this.stride === 2 ? BigInt(this.#cutNs / nsPerMs) * 1_000_000n : 0n;
    return { fromNs: this.startNs + cut + 1n, toNs: this.endNs };
  }

  /** How far behind startNs the window of a column ends, in nanoseconds. */
  endOf(column: number): number {
    return this.#spanNs - (this.columns - 1 - column) * this.#stepNs;
  }

  /** The bucket of a time, or -1 when it is in no window. Sets `offsetNs`. */
  bucketOf(timestampNs: bigint): number {
    return this.#isExact ? this.#bucketOfNumber(timestampNs) : this.#bucketOfBigint(timestampNs);
  }

  #bucketOfNumber(timestampNs: bigint): number {
    // asIntN keeps the difference in a machine word.
    const offset = Number(BigInt.asIntN(64, timestampNs - this.startNs));
    if (offset <= 0 || offset > this.#spanNs) return -1;
    this.offsetNs = offset;
    let step = Math.floor(offset / this.#stepNs);
    let within = offset - step * this.#stepNs;
    // A quotient just below a whole number may have been rounded up to it; and a step ends where the next one begins.
    if (within <= 0) {
      step -= 1;
      within += this.#stepNs;
    }
    return this.#bucketIn(step, within);
  }

  #bucketOfBigint(timestampNs: bigint): number {
    if (timestampNs <= this.startNs || timestampNs > this.endNs) return -1;
    const offset = timestampNs - this.startNs;
    this.offsetNs = Number(offset);
    const stepNs = BigInt(this.#stepNs);
    const step = (offset - 1n) / stepNs;
    return this.#bucketIn(Number(step), Number(offset - step * stepNs));
  }

  #bucketIn(step: number, within: number): number {
    if (this.buckets === 0) return -1;
    if (step > this.#coreFirst + this.#coreExtra) return this.#pieceOf(step - this.#coreExtra, within);
    return step < this.#coreFirst || this.#coreExtra === 0
      ? this.#pieceOf(step, within)
      : this.#coreFirst * this.stride;
  }

  #pieceOf(step: number, within: number): number {
    if (this.stride === 1) return step;
    const bucket = within > this.#cutNs ? 2 * step + 1 : 2 * step;
    // Left edges cut a step off that no window reaches, and all of the time between windows that do not touch.
    return bucket < this.first || (this.width === 1 && bucket % 2 === 0) ? -1 : bucket;
  }

  /** The first column whose window holds a bucket. */
  firstColumnOf(bucket: number): number {
    return Math.max(Math.ceil((bucket - this.first - this.width + 1) / this.stride), 0);
  }

  /** The last column whose window holds a bucket. */
  lastColumnOf(bucket: number): number {
    return Math.min(Math.floor((bucket - this.first) / this.stride), this.columns - 1);
  }

  /** The first bucket of a column's window. */
  firstBucketOf(column: number): number {
    return this.first + column * this.stride;
  }
}
