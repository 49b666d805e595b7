import type { Latency } from '../plugin/host.js';

/** Number of durations kept. */
const remembered = 1_024;

/** The most recent durations, in a ring buffer. */
export class RecentTimes {
  readonly #ring = new Float64Array(remembered);
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count % remembered] = ms;
    this.#count += 1;
  }

  /** Quantiles of the kept durations; undefined if there are none. */
  latency(): Latency | undefined {
    if (this.#count === 0) return undefined;
    const sorted = this.#ring.slice(0, Math.min(this.#count, remembered)).sort();
    return { p50: rankOf(sorted, 0.5), p95: rankOf(sorted, 0.95) };
  }
}

/** The smallest duration that at least this share of the calls did not exceed. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
