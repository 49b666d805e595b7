import { LinkedQueue } from '../base/memory/linked-queue.js';

/** The requests being answered, which a shutdown waits for and then aborts. */
export class InFlight {
  readonly #entries = new LinkedQueue<AbortController>();
  #idle: (() => void) | undefined;

  get count(): number {
    return this.#entries.size;
  }

  /** Registers a request; the returned function unregisters it. */
  add(controller: AbortController): () => void {
    const entries = this.#entries;
    const entry = entries.add(controller);
    return () => {
      entries.remove(entry);
      if (entries.size === 0) this.#idle?.();
    };
  }

  /** Waits until no request is in flight, for at most `timeoutMs`; returns true if all have finished. */
  async drained(timeoutMs: number): Promise<boolean> {
    if (this.count === 0) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#idle = undefined;
        resolve(false);
      }, timeoutMs);
      this.#idle = () => {
        clearTimeout(timer);
        this.#idle = undefined;
        resolve(true);
      };
    });
  }

  /** Aborts all requests in flight; their clients get the reason as the error. */
  abortAll(reason: Error): void {
    for (const { value } of [...this.#entries]) value.abort(reason);
  }
}
