import type { WaitBudget } from './wait-budget.js';

/** Somebody who waits for a place. */
export interface Waiter {
  readonly owner: string;
  /** What is waited for. */
  readonly what: string;
  readonly sinceMs: number;
}

interface Waiting extends Waiter {
  readonly enter: () => void;
}

export interface FairQueueOptions {
  /** Most who may wait at once. */
  readonly maxWaiting: number;
  /** The error for one who has waited as long as may be, or, with `isFull`, for one too many. */
  readonly refusal: (isFull: boolean) => Error;
  readonly nowMs: () => number;
}

/** Counts who is inside and lets the others wait: a place goes to the owner that holds fewest, and among those to the first. */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a place without asking. */
  take(owner: string): void {
    this.#running += 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  /** Gives a place back. */
  release(owner: string): void {
    this.#running -= 1;
    const held = (this.#held.get(owner) ?? 1) - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }

  /** Hands a place to the next who waits and is accepted, if there is one. */
  admitNext(accepts: (waiter: Waiter) => boolean = () => true): boolean {
    const next = this.#inTurn().find(accepts);
    if (next === undefined) return false;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.take(next.owner);
    next.enter();
    return true;
  }

  /** Waits until a place was taken for this owner. Rejects with the refusal, or with the reason of the signal. */
  wait(owner: string, what: string, budget: WaitBudget, signal: AbortSignal): Promise<void> {
    const { maxWaiting, refusal, nowMs } = this.#options;
    if (this.#waiting.length >= maxWaiting) return Promise.reject(refusal(true));
    if (budget.leftMs <= 0) return Promise.reject(refusal(false));
    return new Promise((resolve, reject) => {
      const endWait = budget.begin();
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        endWait();
      };
      const giveUp = (error: Error): void => {
        stop();
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(error);
      };
      const onAbort = (): void => {
        const reason: unknown = signal.reason;
        giveUp(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
      };
      const waiter: Waiting = {
        owner,
        what,
        sinceMs: nowMs(),
        enter: () => {
          stop();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        budget.exhaust();
        giveUp(refusal(false));
      }, budget.leftMs);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #inTurn(): readonly Waiting[] {
    const heldBy = ({ owner }: Waiter): number => this.#held.get(owner) ?? 0;
    return [...this.#waiting].sort((a, b) => heldBy(a) - heldBy(b));
  }
}
