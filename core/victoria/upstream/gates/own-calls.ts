/** The calls of this process that run on the backend, now and recently. */
export interface OwnCallsView {
  readonly running: number;
  /** Recent maximum of concurrent calls. */
  readonly latePeak: number;
}

/** VictoriaLogs updates its gauges once a second, so their view of this process may be this old. */
const lateMs = 1_500;

/** Counts the calls of this process, so that they can be subtracted from the backend's own count. */
export class OwnCalls implements OwnCallsView {
  readonly #nowMs: () => number;
  running = 0;
  #sinceMs = -Infinity;
  /** Maximum in the current time slice, and in the previous one. */
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
    const slices = Math.floor((now - this.#sinceMs) / lateMs);
    if (slices < 1) return;
    this.#before = slices === 1 ? this.#peak : this.running;
    this.#peak = this.running;
    this.#sinceMs = now;
  }
}
