import { sleep } from '../../base/time/waits.js';

/** Lets callers go on one after another, at a limited rate per second. */
export class RateTurns {
  readonly #rate: number;
  #nextAtMs = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  async next(): Promise<void> {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, this.#nextAtMs);
    this.#nextAtMs = atMs + 1000 / this.#rate;
    if (atMs > nowMs) await sleep(atMs - nowMs);
  }
}
