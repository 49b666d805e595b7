import { FairQueue, type Owner } from '../../base/admission/fair-queue.js';
import { heldPermit, type HeldPermit } from '../../base/admission/permit.js';
import { WaitBudget } from '../../base/admission/wait-budget.js';
import { apiError } from '../../base/errors/table.js';

export interface CallGateOptions {
  /** Maximum number of concurrent calls; 0 means unlimited. */
  readonly limit: number;
  /** Maximum wait for a permit. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  /** Maximum queue length, short enough that choosing the next call takes negligible time. */
  readonly maxWaiting: number;
  /** Creates the error of a call that finds the queue full. */
  readonly full: (limit: number, waiting: number) => Error;
  /** Called when the number of running or waiting calls changes. */
  readonly onChange: (running: number, waiting: number) => void;
}

/**
 * Limits concurrent calls. A free permit goes to the owner with the fewest, so that a request with many calls does not make the others wait
 * for all of them.
 *
 * A call releases its permit while its answer is not being read: its reader may be waiting for another call, which could never run if such
 * answers held all permits.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #queue: FairQueue;

  constructor(options: CallGateOptions) {
    const { limit, nowMs, maxWaiting, full } = options;
    this.#options = options;
    const refusal = (isFull: boolean): Error =>
      isFull ? full(limit, maxWaiting) : apiError('queryTimeout', {});
    this.#queue = new FairQueue({ maxWaiting, refusal, nowMs });
  }

  /**
   * Waits for a permit.
   * @throws the signal's reason; `full`; ApiError `queryTimeout`
   */
  async enter(owner: Owner, signal: AbortSignal): Promise<HeldPermit> {
    const { waitMs, nowMs } = this.#options;
    const queue = this.#queue;
    try {
      if (queue.waiting === 0 && this.#hasPermit()) queue.take(owner);
      else {
        const turn = queue.wait(owner, 'call', new WaitBudget(waitMs, nowMs), signal);
        this.#notify();
        await turn;
      }
    } finally {
      this.#notify();
    }
    return heldPermit(
      () => {
        queue.take(owner);
        this.#notify();
      },
      () => {
        queue.release(owner);
        while (this.#hasPermit() && queue.admitNext());
        this.#notify();
      },
    );
  }

  #hasPermit(): boolean {
    const { limit } = this.#options;
    return limit === 0 || this.#queue.running < limit;
  }

  #notify(): void {
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}
