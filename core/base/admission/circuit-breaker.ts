import type { Clock } from '../clock.js';
import { apiError } from '../errors/table.js';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Value of the gauge that shows a state. */
export const breakerGaugeValue: Readonly<Record<BreakerState, number>> = {
  closed: 0,
  open: 1,
  'half-open': 2,
};

/** Options of a breaker; durations in milliseconds. */
export interface BreakerFlags {
  /** Transport failures within the window that open the breaker. */
  readonly breakerFailThreshold: number;
  readonly breakerOpenDuration: number;
  readonly breakerWindowDuration: number;
  /** Counts only consecutive failures: a success resets the count. */
  readonly inARow?: boolean;
}

/** The breaker of calls between replicas, and to what they share. */
export const failuresInARow: BreakerFlags = {
  breakerFailThreshold: 5,
  breakerOpenDuration: 10_000,
  breakerWindowDuration: Infinity,
  inARow: true,
};

/** Permission for one call. Exactly one of the methods ends it; later calls are ignored. */
export interface BreakerPermit {
  succeed(): void;
  fail(): void;
  /** Ends the permit without a verdict on the other side, for example because the client left. */
  release(): void;
}

/** Successful calls that close a half-open breaker. */
const probes = 3;
/** Maximum number of concurrent calls of a half-open breaker. */
const maxProbes = 64;

/**
 * Stops calls to a backend, a peer or a store that cannot be reached (docs/protocol/operation.md#circuit-breaker).
 */
export class CircuitBreaker {
  readonly #flags: BreakerFlags;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #onState: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  #failures: number[] = [];
  #openedAt = 0;
  #probesOut = 0;
  #probesWon = 0;
  /**
   * The number of calls admitted while half-open. It grows with each call that ends without a verdict: otherwise a request that needs more
   * parallel calls than are admitted would always fail, cancel its admitted calls, and never let the breaker close.
   */
  #probesAdmitted = probes;
  /** Incremented on each state change, so that results of calls from an earlier state are ignored. */
  #generation = 0;

  /** @param onState called on every state change, for the gauge */
  constructor(
    flags: BreakerFlags,
    clock: Pick<Clock, 'monotonicMs'>,
    onState: (state: BreakerState) => void = () => undefined,
  ) {
    this.#flags = flags;
    this.#clock = clock;
    this.#onState = onState;
  }

  /** The current state, for /ready and the gauge. Does not admit a call. */
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

  /** As `admit`, but returns undefined when the call is refused. */
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
    if (verdict === 'success' && this.#flags.inARow === true) this.#failures = [];
    if (verdict !== 'failure') return;
    const now = this.#clock.monotonicMs();
    this.#failures = this.#failures.filter((at) => now - at < this.#flags.breakerWindowDuration);
    this.#failures.push(now);
    if (this.#failures.length >= this.#flags.breakerFailThreshold) this.#enter('open');
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    this.#generation += 1;
    this.#probesOut = 0;
    this.#probesWon = 0;
    this.#probesAdmitted = probes;
    this.#failures = [];
    if (state === 'open') this.#openedAt = this.#clock.monotonicMs();
    this.#onState(state);
  }

  #waitOver(): boolean {
    return this.#clock.monotonicMs() - this.#openedAt >= this.#flags.breakerOpenDuration;
  }
}
