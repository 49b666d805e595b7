import { Pacer } from '../../base/pace/pacer.js';

/** Nanoseconds of a row besides its stages. */
const rowCost = 2_000;
/** Looking at the clock for every row would be dear where rows are cheap. */
const lookEvery = 200_000;

/** Lets other work of the process go on between lines. */
export class LinePacer {
  readonly #pacer: Pacer;
  #spent = 0;

  constructor(signal: AbortSignal) {
    this.#pacer = new Pacer(signal);
  }

  /** To be asked behind each line, with what it cost; gives something to wait for when a slice of time is used up. */
  after(spent: number): Promise<void> | undefined {
    this.#spent += rowCost + spent;
    if (this.#spent < lookEvery) return undefined;
    this.#spent = 0;
    return this.#pacer.due();
  }
}
