import type { Clock } from '../../core/base/clock.js';

export interface TokenBucketOptions {
  /** Tokens refilled per second. */
  readonly perSecond: number;
  /** Capacity of a bucket. */
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The most buckets; the least recently used is dropped. */
  readonly maxBuckets?: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const defaultMaxBuckets = 65_536;
/** A bucket that was unused for this long is dropped (docs/protocol/errors-and-limits.md#rate-and-requests-in-flight). */
const idleMs = 10 * 60_000;
const sweepEveryMs = 5 * 60_000;

/** One token bucket per key, such as a remote address: a steady rate with bursts, in bounded memory. */
export class TokenBuckets {
  /** In order of last use. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #options: TokenBucketOptions;
  #sweptAtMs: number;
  #newest: Bucket | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#sweptAtMs = options.clock.monotonicMs();
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one token; false when there is none. */
  take(key: string): boolean {
    const { perSecond, burst, clock, maxBuckets = defaultMaxBuckets } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#sweep(nowMs);
    const known = this.#buckets.get(key);
    const bucket = known ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket !== this.#newest) {
      if (known !== undefined) this.#buckets.delete(key);
      else if (this.#buckets.size >= maxBuckets) this.#dropOldest();
      this.#buckets.set(key, bucket);
      this.#newest = bucket;
    }
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = nowMs;
    for (const [key, bucket] of this.#buckets) {
      if (nowMs - bucket.atMs < idleMs) return;
      this.#buckets.delete(key);
      if (bucket === this.#newest) this.#newest = undefined;
    }
  }

  #dropOldest(): void {
    for (const [key, bucket] of this.#buckets) {
      this.#buckets.delete(key);
      if (bucket === this.#newest) this.#newest = undefined;
      return;
    }
  }
}
