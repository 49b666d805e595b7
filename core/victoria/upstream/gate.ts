import { FairQueue, type Owner } from '../../base/admission/fair-queue.js';
import { heldPlace, type HeldPlace } from '../../base/admission/place.js';
import { WaitBudget } from '../../base/admission/wait-budget.js';
import { apiError } from '../../base/errors/table.js';

export interface CallGateOptions {
  /** Calls at once; 0 means no bound. */
  readonly limit: number;
  /** Longest wait for a place. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  /** Told whenever other calls run or wait. */
  readonly onChange: (running: number, waiting: number) => void;
}

/** Few enough that to choose the next takes no time that anybody notices. */
const maxWaiting = 10_000;

/**
 * Lets a bounded number of calls run at once. A free place goes to the owner with the fewest, so that a request with many calls
 * keeps nobody waiting for all of them.
 *
 * A place is paused while nobody reads the answer of its call: who reads it may wait for another call, and that would never run
 * if such answers held all places.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #queue: FairQueue;

  constructor(options: CallGateOptions) {
    const { limit, nowMs } = options;
    this.#options = options;
    const refusal = (isFull: boolean): Error =>
      isFull ? apiError('tooManyCalls', { limit, waiting: maxWaiting }) : apiError('queryTimeout', {});
    this.#queue = new FairQueue({ maxWaiting, refusal, nowMs });
  }

  /**
   * Waits for a place.
   * @throws the signal's reason; ApiError `tooManyCalls`, `queryTimeout`
   */
  async enter(owner: Owner, signal: AbortSignal): Promise<HeldPlace> {
    const { waitMs, nowMs } = this.#options;
    const queue = this.#queue;
    try {
      if (queue.waiting === 0 && this.#hasPlace()) queue.take(owner);
      else {
        const turn = queue.wait(owner, 'call', new WaitBudget(waitMs, nowMs), signal);
        this.#tell();
        await turn;
      }
    } finally {
      this.#tell();
    }
    return heldPlace(
      () => {
        queue.take(owner);
        this.#tell();
      },
      () => {
        queue.release(owner);
        while (this.#hasPlace() && queue.admitNext());
        this.#tell();
      },
    );
  }

  #hasPlace(): boolean {
    const { limit } = this.#options;
    return limit === 0 || this.#queue.running < limit;
  }

  #tell(): void {
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}
