import type { Clock } from '../../../core/base/clock.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';

const maxKeys = 10_000;
const maxWaiting = 1_000;
/** Time after which an unfinished value is given up. */
export const longestMakingMs = 30_000;

interface Made {
  /** Undefined if the work failed. */
  readonly hit: AnswerHit | undefined;
}

interface Work {
  readonly startedMs: number;
  readonly waiting: Set<(made: Made) => void>;
}

/**
 * Values being made somewhere, by key, so that others can wait for them. It is bounded in number and time: a value that is forgotten is
 * merely made twice.
 */
export class Making {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Work in progress, the oldest first. */
  readonly #works = new Map<string, Work>();
  #waiting = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    this.#forgetOld();
    return this.#works.has(key);
  }

  /** Registers work on a key; false if it is already in progress, or if the table is full. */
  begin(key: string): boolean {
    if (this.has(key) || this.#works.size >= maxKeys) return false;
    this.#works.set(key, { startedMs: this.#clock.monotonicMs(), waiting: new Set() });
    return true;
  }

  /**
   * Passes the result to the waiters.
   * @returns the duration in milliseconds; undefined if no work was registered
   */
  end(key: string, hit?: AnswerHit): number | undefined {
    const work = this.#works.get(key);
    if (work === undefined) return undefined;
    this.#works.delete(key);
    for (const tell of work.waiting) tell({ hit });
    return this.#clock.monotonicMs() - work.startedMs;
  }

  /** Ends all work on keys with this prefix, without a value. */
  clear(prefix: string): void {
    for (const key of [...this.#works.keys()]) if (key.startsWith(prefix)) this.end(key);
  }

  /** Waits for the value of a key; undefined if the work fails or takes longer. */
  async wait(key: string, ms: number, signal?: AbortSignal): Promise<AnswerHit | undefined> {
    const work = this.#works.get(key);
    if (work === undefined || this.#waiting >= maxWaiting) return undefined;
    this.#waiting += 1;
    let timer: NodeJS.Timeout | undefined;
    let leave: (() => void) | undefined;
    try {
      const { hit } = await new Promise<Made>((resolve) => {
        leave = () => {
          work.waiting.delete(resolve);
          resolve({ hit: undefined });
        };
        work.waiting.add(resolve);
        timer = setTimeout(leave, ms);
        signal?.addEventListener('abort', leave, { once: true });
      });
      return hit;
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
    }
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.monotonicMs() - longestMakingMs;
    for (const [key, { startedMs }] of this.#works) {
      if (startedMs > oldestMs) return;
      this.end(key);
    }
  }
}
