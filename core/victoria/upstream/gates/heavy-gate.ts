import { apiError } from '../../../base/errors/table.js';
import { printGoMs } from '../../../base/time/index.js';
import type { Owner } from '../../../base/admission/fair-queue.js';
import type { WaitBudget } from '../../../base/admission/waits.js';
import { CallGate } from '../gate.js';

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
  readonly #gate: CallGate;

  constructor(options: HeavyGateOptions) {
    this.#options = options;
    this.#gate = new CallGate({
      ...options,
      waitMs: options.queueWaitMs,
      maxWaiting,
      full: () => this.#refusal(true),
      late: () => this.#refusal(false),
    });
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
    if (isBackground && this.#gate.running + 1 >= limit) throw this.#refusal(false);
    const permit = await this.#gate.enter(owner, signal, budget);
    return () => permit.leave();
  }

  #refusal(isFull: boolean): Error {
    const { limit, queueWaitMs, onRefused } = this.#options;
    onRefused();
    return isFull
      ? apiError('heavyQueueFull', { limit, waiting: maxWaiting })
      : apiError('heavyQueriesBusy', { limit, wait: printGoMs(queueWaitMs) });
  }
}
