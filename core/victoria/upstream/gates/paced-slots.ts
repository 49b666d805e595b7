import { abortReason } from '../../../base/admission/fair-queue.js';
import { apiError } from '../../../base/errors/table.js';
import { once } from '../../../base/admission/waits.js';

export interface PacedSlotsOptions {
  readonly permits: number;
  /** Time for which a permit stays taken after its call has ended. */
  readonly pauseMs: number;
  /** Called with the number of waiting calls. */
  readonly onChange: (waiting: number) => void;
}

const maxWaiting = 500;

/** A fixed number of permits. A permit stays taken for a pause after its call; the answer does not wait for it. */
export class PacedSlots {
  readonly #options: PacedSlotsOptions;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(options: PacedSlotsOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  /** Number of calls that wait for a permit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a permit, in order of arrival; the returned function reports the end of the call.
   * @throws ApiError `statisticsQueueFull`, or the reason of the signal
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return once(() => {
      const { pauseMs } = this.#options;
      if (pauseMs === 0) this.#give();
      // A pause must not keep a stopping process alive.
      else setTimeout(() => this.#give(), pauseMs).unref();
    });
  }

  #give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
    this.#options.onChange(this.#waiting.length);
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { permits, onChange } = this.#options;
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(apiError('statisticsQueueFull', { limit: permits, waiting: maxWaiting }));
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        onChange(this.#waiting.length);
        reject(abortReason(signal));
      };
      this.#waiting.push(enter);
      onChange(this.#waiting.length);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
