/** The HTTP requests being answered, so that a stop can wait for them and then end the rest. */
export class InFlight {
  readonly #controllers = new Set<AbortController>();
  #idle: (() => void) | undefined;

  get count(): number {
    return this.#controllers.size;
  }

  /** Counts a request in; the returned function counts it out. */
  add(controller: AbortController): () => void {
    this.#controllers.add(controller);
    return () => {
      this.#controllers.delete(controller);
      if (this.#controllers.size === 0) this.#idle?.();
    };
  }

  /** Waits until nothing is in flight, at most for some milliseconds; says whether that came true. */
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

  /** Ends what is still in flight; its clients get the reason as their error. */
  abortAll(reason: Error): void {
    for (const controller of this.#controllers) controller.abort(reason);
  }
}
