import { apiError } from '../../../base/errors/table.js';
import { printGoDuration } from '../../../base/time/index.js';
import { FairQueue, type Owner } from '../../../base/admission/fair-queue.js';
import type { WaitBudget } from '../../../base/admission/waits.js';

export interface HeavyGateOptions {
  /** Maximum number of concurrent heavy queries; 0 means unlimited. */
  readonly limit: number;
  /** Maximum wait of a request, for the text of the error. */
  readonly queueWaitMs: number;
  /** Called when the number of running or waiting queries changes. */
  readonly onChange: (running: number, waiting: number) => void;
  /** Called for every rejected query. */
  readonly onRefused: () => void;
  readonly nowMs: () => number;
}

const maxWaiting = 500;

/** Limits the heavy queries running on the backend at once (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export class HeavyGate {
  readonly #options: HeavyGateOptions;
  readonly #queue: FairQueue;

  constructor(options: HeavyGateOptions) {
    this.#options = options;
    const { nowMs } = options;
    this.#queue = new FairQueue({ maxWaiting, refusal: (isFull) => this.#refusal(isFull), nowMs });
  }

  /**
   * Waits for a permit; the returned function releases it.
   * @param isBackground true if no client waits for the query: it does not queue, and leaves a permit free for others
   * @throws ApiError `heavyQueriesBusy`, `heavyQueueFull`, or the reason of the signal
   */
  async enter(
    owner: Owner,
    budget: WaitBudget,
    signal: AbortSignal,
    isBackground = false,
  ): Promise<() => void> {
    const { limit } = this.#options;
    if (limit === 0) return () => undefined;
    if (isBackground && this.#queue.running + 1 >= limit) throw this.#refusal(false);
    if (this.#queue.running < limit) {
      this.#queue.take(owner);
    } else {
      const waited = this.#queue.wait(owner, 'heavy query', budget, signal);
      this.#notify();
      try {
        await waited;
      } finally {
        this.#notify();
      }
    }
    this.#notify();
    let isOut = false;
    return () => {
      if (isOut) return;
      isOut = true;
      this.#queue.release(owner);
      this.#queue.admitNext();
      this.#notify();
    };
  }

  #refusal(isFull: boolean): Error {
    const { limit, queueWaitMs, onRefused } = this.#options;
    onRefused();
    return isFull
      ? apiError('heavyQueueFull', { limit, waiting: maxWaiting })
      : apiError('heavyQueriesBusy', { limit, wait: goDuration(queueWaitMs) });
  }

  #notify(): void {
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}

/** A duration in the form of flags. */
export function goDuration(ms: number): string {
  return printGoDuration(BigInt(Math.round(ms)) * 1_000_000n);
}
