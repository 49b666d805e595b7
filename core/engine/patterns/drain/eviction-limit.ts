/** The share of lines that may push out a cluster: beyond it, the lines have too many shapes to learn any. */
const maxShare = 0.25;
/** The time, by the timestamps of lines, during which nothing is learnt after that. */
const pauseMs = 10 * 60_000;

/** Stops the learning of a stream whose clusters do not last. */
export class EvictionLimit {
  #taken = 0;
  #evicted = 0;
  #pausedUntilMs: number | undefined;

  /** True when a line may be learnt. */
  allows(timeMs: number): boolean {
    if (this.#pausedUntilMs !== undefined) {
      if (timeMs < this.#pausedUntilMs) return false;
      this.#pausedUntilMs = undefined;
      [this.#taken, this.#evicted] = [0, 0];
    }
    if (this.#evicted > maxShare * this.#taken) {
      this.#pausedUntilMs = timeMs + pauseMs;
      return false;
    }
    this.#taken += 1;
    return true;
  }

  evict(): void {
    this.#evicted += 1;
  }
}
