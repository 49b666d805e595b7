import { ofKey } from '../memory/byte-lru.js';
import { once, startTimer, type WaitBudget } from '../time/waits.js';

/** A value in the queue. */
export interface QueueEntry<Value> {
  readonly value: Value;
}

interface Node<Value> extends QueueEntry<Value> {
  before: Node<Value> | undefined;
  after: Node<Value> | undefined;
  isIn: boolean;
}

/**
 * An insertion-ordered queue from which any entry can be removed in constant time.
 *
 * A Set would do the same, but its outgrown tables are linked to their successors: once one of them is in V8's old space, all later ones,
 * and the values in them, stay alive until the next full collection.
 */
export class LinkedQueue<Value> implements Iterable<QueueEntry<Value>> {
  #first: Node<Value> | undefined;
  #last: Node<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): QueueEntry<Value> | undefined {
    return this.#first;
  }

  add(value: Value): QueueEntry<Value> {
    const node: Node<Value> = { value, before: undefined, after: undefined, isIn: false };
    this.#append(node);
    return node;
  }

  /** Removes an entry; does nothing when it was removed before. */
  remove(entry: QueueEntry<Value>): void {
    const node = entry as Node<Value>;
    if (!node.isIn) return;
    const { before, after } = node;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    [node.before, node.after, node.isIn] = [undefined, undefined, false];
    this.#size -= 1;
  }

  /** Moves an entry to the end. The entry must still be in the queue. */
  moveToEnd(entry: QueueEntry<Value>): void {
    this.remove(entry);
    this.#append(entry as Node<Value>);
  }

  #append(node: Node<Value>): void {
    [node.before, node.after, node.isIn] = [this.#last, undefined, true];
    if (this.#last === undefined) this.#first = node;
    else this.#last.after = node;
    this.#last = node;
    this.#size += 1;
  }

  /** Entries must not be removed during the iteration. */
  *[Symbol.iterator](): Generator<QueueEntry<Value>> {
    for (let node = this.#first; node !== undefined; node = node.after) yield node;
  }
}

/** The party a permit is counted against, widest first, for example a tenant and then one of its clients. */
export type Owner = readonly (string | object)[];

/** A request waiting for a permit. */
interface Waiter {
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

interface FairQueueOptions {
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
    if (signal.aborted) return Promise.reject(abortReason(signal));
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
      const onAbort = (): void => giveUp(abortReason(signal));
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
      const timer = startTimer(() => {
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
      const share = ofKey(parts, name, () => new Share());
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

/** The reason of an aborted signal as an Error. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

/** A concurrency permit held by one request. */
export interface Permit {
  /**
   * Gives the permit back while the request waits for others. The returned function takes it again without queueing. Overlapping pauses
   * count as one.
   */
  pause(): () => void;
}

/** Awaits other work without holding the permit. */
export async function withoutPermit<Value>(
  permit: Permit | undefined,
  awaited: () => Promise<Value>,
): Promise<Value> {
  const resume = permit?.pause();
  try {
    return await awaited();
  } finally {
    resume?.();
  }
}

/** A permit as seen by the request or call that holds it. */
export interface HeldPermit extends Permit {
  leave(): void;
}

/**
 * Creates a permit that is held from now on. `onGiveBack` runs on each pause and on release; `onTake` runs when the permit is taken again.
 */
export function heldPermit(onTake: () => void, onGiveBack: () => void): HeldPermit {
  let pauses = 0;
  let hasLeft = false;
  return {
    pause: () => {
      if (pauses === 0 && !hasLeft) onGiveBack();
      pauses += 1;
      return once(() => {
        pauses -= 1;
        if (pauses === 0 && !hasLeft) onTake();
      });
    },
    leave: () => {
      if (hasLeft) return;
      hasLeft = true;
      if (pauses === 0) onGiveBack();
    },
  };
}
