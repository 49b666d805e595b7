import { LinkedQueue } from '../admission/fair-queue.js';
import { doneOrAborted, startInterval } from '../time/waits.js';

const tickMs = 20;

/**
 * Calls each member about once per period, evenly spread. Separate timers would all fire together once the event loop was late, and stay
 * together from then on. When the loop is late, the period becomes longer.
 */
export class Rounds {
  readonly #periodMs: number;
  /** Members in the order of their next calls. */
  readonly #members = new LinkedQueue<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #tickedMs = 0;
  /** Calls that are due, including a fraction. */
  #due = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Calls `visit` about once per period, first after about one period; the returned function ends that. `visit` must not throw. */
  join(visit: () => void): () => void {
    const member = this.#members.add(visit);
    if (this.#timer === undefined) {
      [this.#tickedMs, this.#due] = [performance.now(), 0];
      this.#timer = startInterval(() => this.#tick(), tickMs).unref();
    }
    return () => {
      this.#members.remove(member);
      if (this.#members.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Waits for one call or until the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return doneOrAborted((done) => this.join(done), signal);
  }

  #tick(): void {
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.#tickedMs, 2 * tickMs);
    this.#tickedMs = nowMs;
    this.#due += (this.#members.size * elapsedMs) / this.#periodMs;
    for (let left = this.#members.size; left > 0 && this.#due >= 1; left -= 1) {
      const { first } = this.#members;
      if (first === undefined) return;
      this.#due -= 1;
      this.#members.moveToEnd(first);
      first.value();
    }
  }
}
