import type { Clock } from '../../../core/base/clock.js';

const failuresThatOpen = 5;
const openMs = 10_000;

/** Keeps a peer that fails from being asked: five failures in a row open it until ten seconds after the last one. */
export class PeerBreaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #failures = 0;
  #lastMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    if (this.#failures < failuresThatOpen) return false;
    if (this.#clock.monotonicMs() - this.#lastMs < openMs) return true;
    this.#failures = 0;
    return false;
  }

  /** It answered, that it has nothing too. */
  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    this.#lastMs = this.#clock.monotonicMs();
  }
}
