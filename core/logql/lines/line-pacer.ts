import { Pacer } from '../../base/pace/pacer.js';

/** Nanoseconds per row, apart from its stages. */
const rowCost = 2_000;
/** Estimated cost between two looks at the clock: a look for every row would dominate the cost of cheap rows. */
const lookEvery = 200_000;

/** Lets other work run between lines. */
export class LinePacer {
  readonly #pacer: Pacer;
  #spent = 0;

  constructor(signal: AbortSignal) {
    this.#pacer = new Pacer(signal);
  }

  /** Call after each line with its cost; returns a promise to await when a time slice is used up. */
  after(spent: number): Promise<void> | undefined {
    this.#spent += rowCost + spent;
    if (this.#spent < lookEvery) return undefined;
    this.#spent = 0;
    return this.#pacer.due();
  }
}
