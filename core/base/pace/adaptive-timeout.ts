export interface AdaptiveTimeoutOptions {
  readonly leastMs: number;
  readonly mostMs: number;
  /** The usual time before any answer; the longest timeout unless given. */
  readonly usualMs?: number;
  /** Weight of a faster answer in the usual time. */
  readonly forgetting?: number;
}

/** From so many late answers in a row on, another one is hardly waited for. */
const hopeless = 3;

/**
 * A timeout that follows those who answer: twice the time that they usually take, within bounds. One that gets slower is given more time at
 * once, one that gets faster less by and by, and one that is always late the least.
 */
export class AdaptiveTimeout {
  readonly #options: AdaptiveTimeoutOptions;
  #usualMs: number;
  #late = 0;

  constructor(options: AdaptiveTimeoutOptions) {
    this.#options = options;
    this.#usualMs = options.usualMs ?? options.mostMs;
  }

  get ms(): number {
    const { leastMs, mostMs } = this.#options;
    return this.#late >= hopeless ? leastMs : Math.min(mostMs, Math.max(leastMs, 2 * this.#usualMs));
  }

  /** The wait for the rest of an answer that has begun in time. */
  get mostMs(): number {
    return this.#options.mostMs;
  }

  answered(tookMs: number): void {
    const { mostMs, forgetting = 0.1 } = this.#options;
    const weight = tookMs > this.#usualMs ? 1 : forgetting;
    this.#usualMs = Math.min(mostMs, this.#usualMs + weight * (tookMs - this.#usualMs));
    if (tookMs <= mostMs) this.#late = 0;
  }

  wasLate(): void {
    this.#late += 1;
  }
}
