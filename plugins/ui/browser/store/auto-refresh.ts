import type { RefreshName } from '../model/query-state.js';

const intervals: Readonly<Record<RefreshName, number>> = {
  off: 0,
  '5s': 5_000,
  '10s': 10_000,
  '30s': 30_000,
  '1m': 60_000,
  '5m': 300_000,
};

/** Calls back at an interval, never while the page is hidden; a call that was due then is made when it is seen again. */
export class AutoRefresh {
  readonly #run: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isDue = false;

  constructor(run: () => void) {
    this.#run = run;
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && this.#isDue) this.#look();
    });
  }

  every(name: RefreshName): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    if (name !== 'off') this.#timer = setInterval(() => this.#look(), intervals[name]);
  }

  #look(): void {
    this.#isDue = document.hidden;
    if (!document.hidden) this.#run();
  }
}
