/** What all long computations of the process together take of one turn of the event loop, and what a batch takes besides. */
const usualSliceMs = 4;
/** Turns that others get behind a slice: most answers take several, and a turn in which nothing is to be done costs next to nothing. */
const turnsBetween = 3;

/**
 * The turns of the event loop, as long computations share them: each may take a slice of a turn, but so many at once that each takes
 * one would hold everybody up, so those that wait are let go on one after the other, as many as fit into the slice of a turn.
 */
class Turns {
  #startedAt = 0;
  #isCounted = false;
  #turn = 0;
  /** From the first that began to wait on. */
  readonly #waiting = new Set<{ readonly fromTurn: number; readonly goOn: () => void }>();

  /** Milliseconds since somebody first asked in this turn. */
  used(): number {
    const now = performance.now();
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#startedAt = now;
      setImmediate(this.#end);
    }
    return now - this.#startedAt;
  }

  /** Waits for some turns, and then until those that waited before have had theirs. */
  wait(): Promise<void> {
    return new Promise((goOn) => {
      this.#waiting.add({ fromTurn: this.#turn + turnsBetween, goOn });
    });
  }

  readonly #end = (): void => {
    this.#turn += 1;
    this.#isCounted = false;
    if (this.#waiting.size > 0) this.#next();
  };

  readonly #next = (): void => {
    const [first] = this.#waiting;
    const isTime = this.used() < usualSliceMs;
    if (!isTime || first === undefined || first.fromTurn > this.#turn) return;
    this.#waiting.delete(first);
    first.goOn();
    // Behind the microtasks, in which the computation goes on until it waits again.
    queueMicrotask(() => process.nextTick(this.#next));
  };
}

const turns = new Turns();

/** Lets other work of the process go on between the rows of a long computation, and sees when that is cancelled. */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: number;

  /**
   * @param signal ends the computation; without it somebody else does, between its calls
   * @param sliceMs how much of a turn may be used up before others get theirs
   */
  constructor(signal?: AbortSignal, sliceMs = usualSliceMs) {
    this.#signal = signal;
    this.#sliceMs = sliceMs;
    turns.used();
  }

  /** To be asked often; gives something to wait for when the slice of this turn is used up. */
  due(): Promise<void> | undefined {
    return turns.used() < this.#sliceMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    await turns.wait();
    this.#signal?.throwIfAborted();
  }
}
