import { doneOrAborted } from '../time/pause.js';

const tickMs = 20;

/**
 * Calls each of its members about once in a period, evenly spread over it. Timers of their own would come all at once as soon as the
 * loop was late once, and stay together from then on. A loop that is late lengthens the period.
 */
export class Rounds {
  readonly #periodMs: number;
  /** The next one to be called is the first. */
  readonly #members = new Set<{ readonly visit: () => void }>();
  #timer: NodeJS.Timeout | undefined;
  #tickedMs = 0;
  /** Calls that are due, with a fraction. */
  #due = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Calls from now on, first after about a period; what comes back ends it. `visit` must not throw. */
  join(visit: () => void): () => void {
    const member = { visit };
    this.#members.add(member);
    if (this.#timer === undefined) {
      [this.#tickedMs, this.#due] = [performance.now(), 0];
      this.#timer = setInterval(() => this.#tick(), tickMs).unref();
    }
    return () => {
      this.#members.delete(member);
      if (this.#members.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Waits for one call, or until the signal is aborted. */
  next(signal: AbortSignal): Promise<void> {
    return doneOrAborted((done) => this.join(done), signal);
  }

  #tick(): void {
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.#tickedMs, 2 * tickMs);
    this.#tickedMs = nowMs;
    this.#due += (this.#members.size * elapsedMs) / this.#periodMs;
    for (const member of this.#members) {
      if (this.#due < 1) return;
      this.#due -= 1;
      this.#members.delete(member);
      this.#members.add(member);
      member.visit();
    }
  }
}
