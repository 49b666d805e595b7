import { apiError } from '../errors/table.js';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerOptions {
  /** Transport failures within the window that open the breaker. */
  readonly failThreshold: number;
  readonly openDurationMs: number;
  readonly windowDurationMs: number;
  /** Counts failures in a row only: a success takes back those before it. */
  readonly inARow?: boolean;
  /** Milliseconds of a clock that never runs backwards. */
  readonly nowMs: () => number;
  /** Notified of every change of state, for the gauge. */
  readonly onState?: (state: BreakerState) => void;
}

/** Permission for one call; exactly one of the methods ends it, later ones are ignored. */
export interface BreakerPermit {
  succeed(): void;
  fail(): void;
  /** The call ended without saying anything about the other side, for example because the client left. */
  release(): void;
}

/** Successful calls that close a half-open breaker. */
const probes = 3;
/** The most calls that a half-open breaker admits at once. */
const maxProbes = 64;

/**
 * Stops calls to a backend, a peer or a store that cannot be reached (docs/protocol/operation.md#circuit-breaker).
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #failures: number[] = [];
  #openedAt = 0;
  #probesOut = 0;
  #probesWon = 0;
  /**
   * The number of calls admitted while half-open. It grows with each call that ends without a verdict: a request that makes more calls at
   * once than are admitted fails, which ends those that were, and would never close the breaker.
   */
  #probesAdmitted = probes;
  /** Incremented with each state, so that calls that began in an earlier state are ignored. */
  #generation = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** The current state, without admitting a call; for /ready and the gauge. */
  get state(): BreakerState {
    return this.#state === 'open' && this.#waitOver() ? 'half-open' : this.#state;
  }

  /**
   * Asks for permission to call the backend.
   * @throws ApiError `breakerOpen`
   */
  admit(): BreakerPermit {
    const permit = this.tryAdmit();
    if (permit === undefined) throw apiError('breakerOpen', {});
    return permit;
  }

  /** The same; undefined where the call is refused. */
  tryAdmit(): BreakerPermit | undefined {
    if (this.#state === 'open' && this.#waitOver()) this.#enter('half-open');
    if (this.#state === 'open') return undefined;
    if (this.#state === 'half-open') {
      if (this.#probesOut + this.#probesWon >= this.#probesAdmitted) return undefined;
      this.#probesOut += 1;
    }
    return this.#permit(this.#generation);
  }

  #permit(generation: number): BreakerPermit {
    let isOver = false;
    const end = (verdict: 'success' | 'failure' | 'none'): void => {
      if (isOver) return;
      isOver = true;
      if (generation === this.#generation) this.#record(verdict);
    };
    return { succeed: () => end('success'), fail: () => end('failure'), release: () => end('none') };
  }

  #record(verdict: 'success' | 'failure' | 'none'): void {
    if (this.#state === 'half-open') {
      this.#probesOut -= 1;
      if (verdict === 'none') this.#probesAdmitted = Math.min(this.#probesAdmitted + 1, maxProbes);
      if (verdict === 'failure') this.#enter('open');
      if (verdict === 'success') {
        this.#probesWon += 1;
        if (this.#probesWon >= probes) this.#enter('closed');
      }
      return;
    }
    if (verdict === 'success' && this.#options.inARow === true) this.#failures = [];
    if (verdict !== 'failure') return;
    const now = this.#options.nowMs();
    this.#failures = this.#failures.filter((at) => now - at < this.#options.windowDurationMs);
    this.#failures.push(now);
    if (this.#failures.length >= this.#options.failThreshold) this.#enter('open');
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    this.#generation += 1;
    this.#probesOut = 0;
    this.#probesWon = 0;
    this.#probesAdmitted = probes;
    this.#failures = [];
    if (state === 'open') this.#openedAt = this.#options.nowMs();
    this.#options.onState?.(state);
  }

  #waitOver(): boolean {
    return this.#options.nowMs() - this.#openedAt >= this.#options.openDurationMs;
  }
}
