import { ClientGoneError, HttpError } from '../http/errors.js';
import { startTimer } from '../../../core/base/time/waits.js';

/** Limits concurrent queries; others wait in order, for at most `maxQueueMs`, and then get 503. */
export class Limiter {
  readonly #capacity: number;
  readonly #maxQueueMs: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(capacity: number, maxQueueMs: number) {
    this.#capacity = capacity;
    this.#maxQueueMs = maxQueueMs;
  }

  get running(): number {
    return this.#running;
  }

  /** Runs `work` once a permit is free. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#capacity) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.values().next().value;
      // The permit is passed on directly, so a new query cannot take it first.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(onTurn);
      };
      const onTurn = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        leave();
        reject(new ClientGoneError());
      };
      const timer = startTimer(() => {
        leave();
        reject(
          new HttpError(
            503,
            `couldn't start executing the request in ${(this.#maxQueueMs / 1000).toFixed(3)} seconds, since ` +
              `-search.maxConcurrentRequests=${this.#capacity} concurrent requests are executed. Possible solutions: ` +
              `to reduce query load; to increase -search.maxConcurrentRequests`,
          ),
        );
      }, this.#maxQueueMs);
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(onTurn);
    });
  }
}
