import type { Clock } from '../../../core/base/clock.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';

const maxKeys = 10_000;
const maxWaiting = 1_000;
/** Whoever takes longer is not waited for. */
export const longestMakingMs = 30_000;

interface Made {
  /** Undefined where it came to nothing. */
  readonly hit: AnswerHit | undefined;
}

interface Work {
  readonly startedMs: number;
  readonly waiting: Set<(made: Made) => void>;
}

/** What is being made somewhere, by key, so that others wait for it. Bounded in number and time: whatever is forgotten is only made twice. */
export class Making {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The oldest first. */
  readonly #works = new Map<string, Work>();
  #waiting = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    this.#forgetOld();
    return this.#works.has(key);
  }

  /** False where somebody makes it already, or there is no room. */
  begin(key: string): boolean {
    if (this.has(key) || this.#works.size >= maxKeys) return false;
    this.#works.set(key, { startedMs: this.#clock.monotonicMs(), waiting: new Set() });
    return true;
  }

  /** Gives those who wait what was made. @returns how long it took; undefined for what nobody made */
  end(key: string, hit?: AnswerHit): number | undefined {
    const work = this.#works.get(key);
    if (work === undefined) return undefined;
    this.#works.delete(key);
    for (const tell of work.waiting) tell({ hit });
    return this.#clock.monotonicMs() - work.startedMs;
  }

  /** Ends, without a value, what has a key with this beginning. */
  clear(prefix: string): void {
    for (const key of [...this.#works.keys()]) if (key.startsWith(prefix)) this.end(key);
  }

  /** Waits for what is being made; undefined when that comes to nothing, or takes longer. */
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
