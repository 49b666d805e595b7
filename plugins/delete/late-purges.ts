/** When caches are emptied again: the backend deletes in the background, and answers made meanwhile may show deleted rows. */
const delaysMs: readonly number[] = [5_000, 60_000];

/** Purges that follow a deletion. */
export class LatePurges {
  readonly #purge: () => Promise<void>;
  readonly #delaysMs: readonly number[];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(purge: () => Promise<void>, delays = delaysMs) {
    this.#purge = purge;
    this.#delaysMs = delays;
  }

  /** Empties the caches now, and plans to do so again; what a deletion before this one had planned is dropped for that. */
  async begin(): Promise<void> {
    this.stop();
    for (const delay of this.#delaysMs) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.#purge();
      }, delay);
      // Caches end with the process.
      timer.unref();
      this.#timers.add(timer);
    }
    await this.#purge();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
