export interface AdaptiveTimeoutOptions {
  readonly leastMs: number;
  readonly mostMs: number;
  /** Estimate of the usual response time before the first response; the longest timeout unless given. */
  readonly usualMs?: number;
  /** Weight of a faster response in the estimate. */
  readonly forgetting?: number;
}

/** After this many late responses in a row the shortest timeout applies. */
const maxLateInARow = 3;

/**
 * A timeout of twice the usual response time, within bounds. It grows at once when responses get slower, shrinks gradually when they get
 * faster, and is at its minimum after several late responses in a row.
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
    return this.#late >= maxLateInARow ? leastMs : Math.min(mostMs, Math.max(leastMs, 2 * this.#usualMs));
  }

  /** Timeout for the rest of a response that began in time. */
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
