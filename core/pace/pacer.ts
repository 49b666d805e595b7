/** A request waits for some turns of the event loop, and each may last a slice and what a batch takes. */
const usualSliceMs = 4;
/** Turns that others get behind a slice: most answers take several, and a turn in which nothing is to be done costs next to nothing. */
const turns = 3;

/** Lets other work of the process go on between the rows of a long computation, and sees when that is cancelled. */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: number;
  #since = performance.now();

  /**
   * @param signal ends the computation; without it somebody else does, between its calls
   * @param sliceMs how long to go on before others get their turn
   */
  constructor(signal?: AbortSignal, sliceMs = usualSliceMs) {
    this.#signal = signal;
    this.#sliceMs = sliceMs;
  }

  /** To be asked often; gives something to wait for when a slice of time is used up. */
  due(): Promise<void> | undefined {
    return performance.now() - this.#since < this.#sliceMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
