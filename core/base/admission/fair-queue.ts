import { LinkedQueue, type QueueEntry } from '../memory/linked-queue.js';
import type { WaitBudget } from './wait-budget.js';

/** The party a permit is counted against, widest first, for example a tenant and then one of its clients. */
export type Owner = readonly (string | object)[];

/** A request waiting for a permit. */
export interface Waiter {
  readonly owner: Owner;
  /** The resource that the request waits for, as error texts and metrics name it. */
  readonly what: string;
  readonly sinceMs: number;
}

interface Waiting extends Waiter {
  /** The owner's shares, widest first. */
  readonly shares: readonly Share[];
  readonly enter: () => void;
}

/** The permits one owner holds, and the owners below it. */
class Share {
  held = 0;
  waiting = 0;
  readonly parts = new Map<string | object, Share>();
}

export interface FairQueueOptions {
  /** Maximum queue length. */
  readonly maxWaiting: number;
  /** Makes the error for a request that timed out or, with `isFull`, found the queue full. */
  readonly refusal: (isFull: boolean) => Error;
  readonly nowMs: () => number;
}

/**
 * Counts the requests that hold a permit and queues the others. A free permit goes to the owner that holds the fewest (first among tenants,
 * then among the clients of one tenant), and within an owner to the request that came first.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #all = new Share();
  /** In order of arrival. */
  readonly #waiting = new LinkedQueue<Waiting>();

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#all.held;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit without queueing. */
  take(owner: Owner): void {
    this.#all.held += 1;
    for (const share of this.#sharesOf(owner)) share.held += 1;
  }

  release(owner: Owner): void {
    this.#all.held -= 1;
    for (const share of this.#sharesOf(owner)) share.held -= 1;
    this.#forget(owner);
  }

  /**
   * Tells whether one more permit would keep the owner, or a wider owner above it, within an equal share of `permits`. The widest owner
   * always gets at least one.
   */
  isBelowShare(owner: Owner, permits: number): boolean {
    let parts: ReadonlyMap<string | object, Share> = this.#all.parts;
    let part = permits;
    for (const [level, name] of owner.entries()) {
      const share = parts.get(name);
      part /= share === undefined ? parts.size + 1 : parts.size;
      if (level === 0) part = Math.max(1, part);
      if ((share === undefined ? 0 : share.held + share.waiting) + 1 <= part) return true;
      parts = share?.parts ?? none;
    }
    return false;
  }

  /** Gives a permit to the next accepted waiter; returns false when there is none. */
  admitNext(accepts: (waiter: Waiter) => boolean = () => true): boolean {
    let next: QueueEntry<Waiting> | undefined;
    for (const one of this.#waiting)
      if ((next === undefined || holdsLess(one.value, next.value)) && accepts(one.value)) next = one;
    if (next === undefined) return false;
    this.#remove(next);
    this.take(next.value.owner);
    next.value.enter();
    return true;
  }

  /** Waits until a permit has been taken for this owner. Rejects with the refusal, or with the signal's reason. */
  wait(owner: Owner, what: string, budget: WaitBudget, signal: AbortSignal): Promise<void> {
    const { maxWaiting, refusal, nowMs } = this.#options;
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    if (this.#waiting.size >= maxWaiting) return Promise.reject(refusal(true));
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
        this.#remove(entry);
        this.#forget(owner);
        reject(error);
      };
      const onAbort = (): void => giveUp(reasonOf(signal));
      const waiter: Waiting = {
        owner,
        what,
        sinceMs: nowMs(),
        shares: this.#sharesOf(owner),
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
      const entry = this.#waiting.add(waiter);
      for (const share of waiter.shares) share.waiting += 1;
    });
  }

  #remove(entry: QueueEntry<Waiting>): void {
    this.#waiting.remove(entry);
    for (const share of entry.value.shares) share.waiting -= 1;
  }

  #sharesOf(owner: Owner): readonly Share[] {
    let { parts } = this.#all;
    return owner.map((name) => {
      let share = parts.get(name);
      if (share === undefined) {
        share = new Share();
        parts.set(name, share);
      }
      ({ parts } = share);
      return share;
    });
  }

  /** Drops an owner without permits or waiters: callers choose the owner names, so the map would grow without bound. */
  #forget(owner: Owner): void {
    let { parts } = this.#all;
    for (const name of owner) {
      const share = parts.get(name);
      if (share === undefined) return;
      if (share.held === 0 && share.waiting === 0) {
        parts.delete(name);
        return;
      }
      ({ parts } = share);
    }
  }
}

const none: ReadonlyMap<string | object, Share> = new Map();

function holdsLess(one: Waiting, other: Waiting): boolean {
  for (const [level, share] of one.shares.entries()) {
    const difference = share.held - (other.shares[level]?.held ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
