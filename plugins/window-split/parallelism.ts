import type { WindowSplitOptions } from '../../core/base/options.gen.js';

type Settings = Pick<
  WindowSplitOptions,
  | 'maxParallel'
  | 'adaptiveParallel'
  | 'adaptiveMinParallel'
  | 'adaptiveMaxParallel'
  | 'latencyTarget'
  | 'latencyBackoff'
  | 'adaptiveCooldown'
  | 'errorBackoffThreshold'
>;

/** Weight of the latest observation in the moving averages. */
const weight = 0.2;

/**
 * Number of parallel reads of one query. In adaptive mode, it grows by one while the moving averages of duration and failures are healthy,
 * is halved if they are not, and pauses after each change.
 */
export class Parallelism {
  readonly #settings: Settings;
  readonly #nowMs: () => number;
  #current: number;
  #changedMs = -Infinity;
  #latencyMs: number | undefined;
  #errors = 0;

  constructor(settings: Settings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.#current = settings.adaptiveParallel ? settings.adaptiveMinParallel : settings.maxParallel;
  }

  get current(): number {
    return this.#current;
  }

  /** Moving average of the duration of a read, in milliseconds. */
  get latencyMs(): number {
    return this.#latencyMs ?? 0;
  }

  /** Moving average of the share of failed reads. */
  get errors(): number {
    return this.#errors;
  }

  /** Records the end of a read. */
  observe(durationMs: number, hasFailed: boolean): void {
    this.#latencyMs = average(this.#latencyMs ?? durationMs, durationMs);
    this.#errors = average(this.#errors, hasFailed ? 1 : 0);
    const { adaptiveParallel, adaptiveCooldown } = this.#settings;
    if (!adaptiveParallel || this.#nowMs() - this.#changedMs < adaptiveCooldown) return;
    const next = this.#next(this.#latencyMs);
    if (next === this.#current) return;
    this.#current = next;
    this.#changedMs = this.#nowMs();
  }

  #next(latencyMs: number): number {
    const { latencyBackoff, latencyTarget, errorBackoffThreshold } = this.#settings;
    const { adaptiveMinParallel, adaptiveMaxParallel } = this.#settings;
    if (latencyMs > latencyBackoff || this.#errors > errorBackoffThreshold)
      return Math.max(adaptiveMinParallel, Math.floor(this.#current / 2));
    return latencyMs < latencyTarget ? Math.min(adaptiveMaxParallel, this.#current + 1) : this.#current;
  }
}

function average(before: number, now: number): number {
  return before + (now - before) * weight;
}
