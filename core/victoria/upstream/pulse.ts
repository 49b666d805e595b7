export interface PulseOptions {
  /** Asks the backend for something that always costs it the same. May reject. */
  readonly look: (signal: AbortSignal) => Promise<unknown>;
  readonly nowMs: () => number;
  /** Told how many milliseconds the look is later than it may be. */
  readonly tell: (lateMs: number) => void;
}

const everyMs = 100;
const withinMs = 2_000;
/** What comes no later than this, and a single look that comes late, may be the network's doing. */
const toleranceMs = 5;
const weightOfOne = 0.3;
/** One call at a time waits for no other. */
const fewCalls = 1;
/** What is usual may change, as when the backend moves: the shortest time is forgotten, over a quarter of an hour of such looks. */
const forgetting = 1e-4;

/**
 * Feels whether the backend has too much to do: while calls run it is asked ten times a second for something of fixed cost, and what
 * that takes much longer than at its best is what everything waits for there. The times of the calls themselves tell nothing, as each costs
 * something else.
 */
export class Pulse {
  readonly #options: PulseOptions;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;
  #bestMs = Infinity;
  #lateMs = 0;
  /** When the look that is under way began. */
  #sinceMs: number | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Takes in how many calls run now. */
  calls(running: number): void {
    this.#calls = running;
    if (running > fewCalls) this.#timer ??= setInterval(() => this.#beat(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const { nowMs, tell } = this.#options;
    if (this.#sinceMs === undefined) {
      if (this.#calls > fewCalls) void this.#look();
      else this.stop();
      return;
    }
    // A look that has not come back is late by now, too.
    if (this.#bestMs !== Infinity)
      tell(Math.max(this.#lateMs, weightOfOne * this.#lateness(nowMs() - this.#sinceMs)));
  }

  async #look(): Promise<void> {
    const { look, nowMs, tell } = this.#options;
    this.#sinceMs = nowMs();
    try {
      await look(AbortSignal.timeout(withinMs));
    } catch {
      // A refusal tells as much as an answer. A backend that does not answer at all is the circuit breaker's matter.
    }
    const tookMs = nowMs() - this.#sinceMs;
    this.#sinceMs = undefined;
    const best = this.#bestMs;
    this.#bestMs = best === Infinity ? tookMs : Math.min(tookMs, best + (tookMs - best) * forgetting);
    this.#lateMs += weightOfOne * (this.#lateness(tookMs) - this.#lateMs);
    tell(this.#lateMs);
  }

  #lateness(tookMs: number): number {
    return Math.max(0, tookMs - 2 * this.#bestMs - toleranceMs);
  }
}
