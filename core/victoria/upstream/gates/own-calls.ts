/** The calls that this process has running on the backend, now and lately. */
export interface OwnCallsView {
  readonly running: number;
  /** The most that ran at once lately. */
  readonly latePeak: number;
}

/** VictoriaLogs makes its gauges anew once a second: what they tell of this process may be that old. */
const lateMs = 1_500;

/** Counts the calls of this process, so that the backend's own count is not taken for that of others. */
export class OwnCalls implements OwnCallsView {
  readonly #nowMs: () => number;
  running = 0;
  #sinceMs = -Infinity;
  /** The most of this stretch of time, and of the one before. */
  #peak = 0;
  #before = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  set(running: number): void {
    this.#roll();
    this.running = running;
    this.#peak = Math.max(this.#peak, running);
  }

  get latePeak(): number {
    this.#roll();
    return Math.max(this.#peak, this.#before);
  }

  #roll(): void {
    const now = this.#nowMs();
    const stretches = Math.floor((now - this.#sinceMs) / lateMs);
    if (stretches < 1) return;
    this.#before = stretches === 1 ? this.#peak : this.running;
    this.#peak = this.running;
    this.#sinceMs = now;
  }
}
