/** Of the longest time: a peer is given one in so many parts of it at least. */
const leastDivisor = 10;
/** From so many late answers in a row on, another one is hardly waited for. */
const hopeless = 3;
const forgetting = 0.1;

/**
 * How long a request waits for a peer before it goes on to the backend: twice what the peer usually takes. A peer that gets slower is
 * given more time at once, one that gets faster less by and by, and one that is always late the least.
 */
export class Patience {
  readonly #mostMs: number;
  #usualMs: number;
  #late = 0;

  constructor(mostMs: number) {
    this.#mostMs = mostMs;
    this.#usualMs = mostMs;
  }

  get ms(): number {
    const leastMs = this.#mostMs / leastDivisor;
    return this.#late >= hopeless ? leastMs : Math.min(this.#mostMs, Math.max(leastMs, 2 * this.#usualMs));
  }

  /** What is waited for an answer that has begun in time. */
  get restMs(): number {
    return this.#mostMs;
  }

  answered(tookMs: number): void {
    this.#usualMs = tookMs > this.#usualMs ? tookMs : this.#usualMs + forgetting * (tookMs - this.#usualMs);
    this.#usualMs = Math.min(this.#usualMs, this.#mostMs);
    if (tookMs <= this.#mostMs) this.#late = 0;
  }

  wasLate(): void {
    this.#late += 1;
  }
}

const leastWaitMs = 100;
const mostWaitMs = 10_000;
const forgettingMade = 0.3;

/**
 * How long to wait for what another replica makes: twice as long as the slowest that were made here lately. Before anything was, for two
 * seconds.
 */
export class UsualTime {
  #ms = 1_000;

  get ms(): number {
    return Math.min(mostWaitMs, Math.max(leastWaitMs, 2 * this.#ms));
  }

  made(tookMs: number): void {
    this.#ms = tookMs > this.#ms ? tookMs : this.#ms + forgettingMade * (tookMs - this.#ms);
  }
}
