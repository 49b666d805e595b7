/** When to empty caches again: the backend deletes in the background, and answers made meanwhile may still contain deleted rows. */
const delaysMs: readonly number[] = [5_000, 60_000];

/** Empties caches after a deletion, repeatedly. */
export class LatePurges {
  readonly #purge: () => Promise<void>;
  readonly #delaysMs: readonly number[];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(purge: () => Promise<void>, delays = delaysMs) {
    this.#purge = purge;
    this.#delaysMs = delays;
  }

  /** Empties the caches now and schedules the later purges, replacing those of an earlier deletion. */
  async begin(): Promise<void> {
    this.stop();
    for (const delay of this.#delaysMs) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.#purge();
      }, delay);
      // A pending purge must not keep a stopping process alive.
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
