export interface AdaptiveLimitOptions {
  /** The limit never falls below this. */
  readonly floor: number;
  /** The limit never rises above this. */
  readonly ceiling: number;
  /** A longer delay means that too many are running. */
  readonly targetMs: number;
}

/** A concurrency limit that adapts to how long fixed-cost work is delayed while requests run. */
export class AdaptiveLimit {
  readonly #options: AdaptiveLimitOptions;
  #limit: number;

  constructor(options: AdaptiveLimitOptions) {
    this.#options = options;
    this.#limit = options.ceiling;
  }

  get current(): number {
    return Math.floor(this.#limit);
  }

  /** Records one measured delay. A delay over the target lowers the limit; otherwise it rises, slowly while requests have to be refused. */
  observe(delayMs: number, running: number, isRefusing: boolean): void {
    const { floor, ceiling, targetMs } = this.#options;
    const next =
      delayMs > targetMs
        ? Math.min(this.#limit, Math.max(running, 1)) * decrease
        : this.#limit * (1 + (isRefusing ? slowGrowth : growth));
    this.#limit = Math.min(ceiling, Math.max(floor, next));
  }
}

const decrease = 0.8;
const growth = 0.1;
/**
 * Requests that are refused only come back in greater number when the limit overshoots. No more of them are answered either: with a growth of a
 * fifth of a request as many were answered, and the slowest hundredth took twice as long (docs/reliability.md).
 */
const slowGrowth = 0.01;
