/** The requests being answered, so that shutdown can wait for them and abort the rest. */
export class InFlight {
  /**
   * In any order. No Set: the tables that it outgrows keep the requests of a while ago alive, and the collector busy.
   */
  readonly #entries: { readonly controller: AbortController; at: number }[] = [];
  #idle: (() => void) | undefined;

  get count(): number {
    return this.#entries.length;
  }

  /** Registers a request; the returned function unregisters it. */
  add(controller: AbortController): () => void {
    const entries = this.#entries;
    const entry = { controller, at: entries.length };
    entries.push(entry);
    return () => {
      if (entries[entry.at] !== entry) return;
      const last = entries.pop();
      if (last !== undefined && last !== entry) {
        last.at = entry.at;
        entries[entry.at] = last;
      }
      if (entries.length === 0) this.#idle?.();
    };
  }

  /** Waits until nothing is in flight, for at most `timeoutMs`; tells whether everything finished. */
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
    for (const { controller } of [...this.#entries]) controller.abort(reason);
  }
}
