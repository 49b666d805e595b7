export interface PulseOptions {
  /** Sends a probe whose cost for the backend is constant. May reject. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly nowMs: () => number;
  /** Reports the number of milliseconds by which the probe exceeds the normal time. */
  readonly report: (lateMs: number) => void;
}

const everyMs = 100;
const withinMs = 2_000;
/** Tolerated delay. Smaller delays, and a single late probe, may come from the network. */
const toleranceMs = 5;
const weightOfOne = 0.3;
/** Number of calls that cause no queueing. */
const uncontendedCalls = 1;
/**
 * Rate at which the shortest time is forgotten, over a quarter of an hour of probing: the normal time may change, for example if the
 * backend moves.
 */
const forgetting = 1e-4;

/**
 * Measures whether the backend is overloaded. While calls run, it is probed ten times a second with a request of constant cost. The excess
 * over the shortest time is the queueing delay that every call suffers there. The durations of the calls themselves show nothing, because
 * their costs differ.
 */
export class Pulse {
  readonly #options: PulseOptions;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;
  #bestMs = Infinity;
  #lateMs = 0;
  /** Start time of the current probe. */
  #sinceMs: number | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Updates the number of running calls. */
  calls(running: number): void {
    this.#calls = running;
    if (running > uncontendedCalls) this.#timer ??= setInterval(() => this.#beat(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const { nowMs, report } = this.#options;
    if (this.#sinceMs === undefined) {
      if (this.#calls > uncontendedCalls) void this.#probe();
      else this.stop();
      return;
    }
    // A probe that has not returned yet is already late.
    if (this.#bestMs !== Infinity)
      report(Math.max(this.#lateMs, weightOfOne * this.#lateness(nowMs() - this.#sinceMs)));
  }

  async #probe(): Promise<void> {
    const { probe, nowMs, report } = this.#options;
    this.#sinceMs = nowMs();
    try {
      await probe(AbortSignal.timeout(withinMs));
    } catch {
      // An error response counts like an answer. A backend that does not answer at all is left to the circuit breaker.
    }
    const tookMs = nowMs() - this.#sinceMs;
    this.#sinceMs = undefined;
    const best = this.#bestMs;
    this.#bestMs = best === Infinity ? tookMs : Math.min(tookMs, best + (tookMs - best) * forgetting);
    this.#lateMs += weightOfOne * (this.#lateness(tookMs) - this.#lateMs);
    report(this.#lateMs);
  }

  #lateness(tookMs: number): number {
    return Math.max(0, tookMs - 2 * this.#bestMs - toleranceMs);
  }
}
