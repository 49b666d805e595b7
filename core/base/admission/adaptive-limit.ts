export interface AdaptiveLimitOptions {
  /** So many may always run. */
  readonly floor: number;
  /** More never run. */
  readonly ceiling: number;
  /** A longer delay says that too many run. */
  readonly targetMs: number;
}

/** How many may run at once, learned from how long something of fixed cost was delayed while they ran. */
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

  /** Takes in one measured delay. Fewer than run now must run when it was too long; else more may, the sooner the fewer are waiting. */
  observe(delayMs: number, running: number, waiting: number): void {
    const { floor, ceiling, targetMs } = this.#options;
    const next =
      delayMs > targetMs
        ? Math.min(this.#limit, Math.max(running, 1)) * decrease
        : this.#limit + (waiting > 0 ? 1 : this.#limit * growth);
    this.#limit = Math.min(ceiling, Math.max(floor, next));
  }
}

const decrease = 0.8;
const growth = 0.1;
