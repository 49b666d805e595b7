import type { Clock } from '../../core/plugin/host.js';

const keptMs = 600_000;
const maxKept = 1000;

/** What statistics were asked for and turned out to have too many groups; for a while they are not asked for again. */
export class Refusals {
  readonly #until = new Map<string, number>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    const until = this.#until.get(key);
    return until !== undefined && this.#clock.monotonicMs() < until;
  }

  add(key: string): void {
    if (this.#until.size >= maxKept) this.#until.clear();
    this.#until.set(key, this.#clock.monotonicMs() + keptMs);
  }
}
