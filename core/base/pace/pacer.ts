import { LinkedQueue } from '../memory/linked-queue.js';

/** Milliseconds per turn of the event loop that all long computations share, and that one batch may take in addition. */
const usualSliceMs = 4;
/** Turns left to other work after each slice: most answers need several turns, and an idle turn costs almost nothing. */
const turnsBetween = 3;

/**
 * Shares the turns of the event loop among long computations. If each of many computations took a slice of the same turn, they would block
 * everything else. So waiting computations resume one after the other, as many as fit into one slice.
 */
class Turns {
  #startedAt = 0;
  #isCounted = false;
  #turn = 0;
  /** In order of arrival. */
  readonly #waiting = new LinkedQueue<{ readonly fromTurn: number; readonly goOn: () => void }>();

  /** Milliseconds since the first computation of this turn began its slice. */
  used(): number {
    const now = performance.now();
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#startedAt = now;
      setImmediate(this.#end);
    }
    return now - this.#startedAt;
  }

  /** Waits for some turns, and then for the computations that have waited longer. */
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
    const { first } = this.#waiting;
    const isTime = this.used() < usualSliceMs;
    if (!isTime || first === undefined || first.value.fromTurn > this.#turn) return;
    this.#waiting.remove(first);
    first.value.goOn();
    // Runs after the microtasks, in which the resumed computation runs until it waits again.
    queueMicrotask(() => process.nextTick(this.#next));
  };
}

const turns = new Turns();

/** Lets other work run between the rows of a long computation, and ends the computation when it is cancelled. */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: number;

  /**
   * @param signal cancels the computation; without it, the caller checks between calls
   * @param sliceMs milliseconds of a turn that may be used before other work runs
   */
  constructor(signal?: AbortSignal, sliceMs = usualSliceMs) {
    this.#signal = signal;
    this.#sliceMs = sliceMs;
    turns.used();
  }

  /** Call this often; it returns a promise to await when the slice of this turn is used up. */
  due(): Promise<void> | undefined {
    return turns.used() < this.#sliceMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    await turns.wait();
    this.#signal?.throwIfAborted();
  }
}
