import type { Clock } from '../../../core/base/clock.js';
import { doneOrAborted, startTimer } from '../../../core/base/time/waits.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';

const maxKeys = 10_000;
const maxWaiting = 1_000;
/** Time after which an unfinished value is given up. */
export const longestMakingMs = 30_000;

interface Work {
  readonly startedMs: number;
  /** Told the value; undefined if the work failed. */
  readonly waiting: Set<(hit: AnswerHit | undefined) => void>;
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
    for (const tell of work.waiting) tell(hit);
    return this.#clock.monotonicMs() - work.startedMs;
  }

  /** Ends all work on keys with this prefix, without a value. */
  clear(prefix: string): void {
    for (const key of [...this.#works.keys()]) if (key.startsWith(prefix)) this.end(key);
  }

  /** Waits for the value of a key; undefined if the work fails or takes longer. */
  async wait(
    key: string,
    ms: number,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<AnswerHit | undefined> {
    const work = this.#works.get(key);
    if (work === undefined || this.#waiting >= maxWaiting) return undefined;
    this.#waiting += 1;
    let made: AnswerHit | undefined;
    await doneOrAborted((done) => {
      const tell = (hit: AnswerHit | undefined): void => {
        made = hit;
        done();
      };
      work.waiting.add(tell);
      const timer = startTimer(done, ms);
      return () => {
        clearTimeout(timer);
        work.waiting.delete(tell);
      };
    }, signal);
    this.#waiting -= 1;
    return made;
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.monotonicMs() - longestMakingMs;
    for (const [key, { startedMs }] of this.#works) {
      if (startedMs > oldestMs) return;
      this.end(key);
    }
  }
}
