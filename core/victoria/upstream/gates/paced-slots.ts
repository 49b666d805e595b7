import { apiError } from '../../../base/errors/table.js';
import { CallGate } from '../gate.js';

export interface PacedSlotsOptions {
  readonly permits: number;
  /** Time for which a permit stays taken after its call has ended. */
  readonly pauseMs: number;
  /** Called with the number of waiting calls. */
  readonly onChange: (waiting: number) => void;
}

const maxWaiting = 500;
/** Calls wait until their signal aborts; timers take no more. */
const waitMs = 2 ** 31 - 1;
/** All calls are equal, so permits go to them in order of arrival. */
const everyone = [''];

/** A fixed number of permits. A permit stays taken for a pause after its call; the answer does not wait for it. */
export class PacedSlots {
  readonly #pauseMs: number;
  readonly #gate: CallGate;

  constructor({ permits, pauseMs, onChange }: PacedSlotsOptions) {
    this.#pauseMs = pauseMs;
    this.#gate = new CallGate({
      limit: permits,
      waitMs,
      nowMs: () => performance.now(),
      maxWaiting,
      full: (limit, waiting) => apiError('statisticsQueueFull', { limit, waiting }),
      onChange: (_running, waiting) => onChange(waiting),
    });
  }

  /**
   * Waits for a permit, in order of arrival; the returned function reports the end of the call.
   * @throws ApiError `statisticsQueueFull`, or the reason of the signal
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    const permit = await this.#gate.enter(everyone, signal);
    return () => {
      if (this.#pauseMs === 0) permit.leave();
      // A pause must not keep a stopping process alive.
      else setTimeout(() => permit.leave(), this.#pauseMs).unref();
    };
  }
}
