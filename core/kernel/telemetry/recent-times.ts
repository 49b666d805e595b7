import type { Latency } from '../plugin/host.js';

/** Times that are remembered. */
const remembered = 1_024;

/** The last times of something, the oldest one overwritten first. */
export class RecentTimes {
  readonly #ring = new Float64Array(remembered);
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count % remembered] = ms;
    this.#count += 1;
  }

  /** Quantiles of what is remembered; undefined before the first time. */
  latency(): Latency | undefined {
    if (this.#count === 0) return undefined;
    const sorted = this.#ring.slice(0, Math.min(this.#count, remembered)).sort();
    return { p50: rankOf(sorted, 0.5), p95: rankOf(sorted, 0.95) };
  }
}

/** The least time that at least this share of the calls did not pass. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
