import type { Clock } from '../base/clock.js';
import { settles } from '../base/time/within.js';
import { NoAnswer, type Channel } from './channel.js';
import {
  lateTopic,
  lendTopic,
  recallTopic,
  settleTopic,
  yieldTopic,
  type BudgetTerms,
  type Settled,
} from './topics.js';
import { startInterval } from '../base/time/waits.js';

/**
 * Bounds on requests that wait for a larger lease, in milliseconds and in number. The first process answers in less than a millisecond
 * unless the machine is overloaded, and a late request is better than one refused by mistake.
 */
const longestWaitMs = 1_000;
const maxWaiting = 1_024;
/** Timeout for an answer. It is long, because the amount leased by a discarded answer would be lost. */
const answerMs = 60_000;
const failedWaitMs = 100;
/** Unused units are given back after this time. */
const idleMs = 500;
const yieldsForMs = 1_000;
/** From this size on, a lease is renewed before it is used up. */
const refillFrom = 4;
const maxLeases = 65_536;
/** Maximum number of settlements in one message. */
const maxSettled = 1_000;

const nothingInUse = (): number => 0;
const nothing = (): void => undefined;

/** A worker's lease of one account. Tokens are spent; permits are in use for a while. */
export class Lease {
  held = 0;
  /** Units spent since the last settlement. */
  spent = 0;
  /** Amount of the last answer. */
  lastLent = 0;
  /** True if it was used since the last sweep. */
  isUsed = true;
  asking: Promise<void> | undefined;
  waiting = 0;
  /** Time before which a request for more is pointless. */
  idleUntilMs = -Infinity;
  /** Temporary upper bound of `held`, valid until `mostUntilMs`. */
  most = Infinity;
  mostUntilMs = -Infinity;

  constructor(
    /** Returns the number of held units that are in use. */
    readonly inUse: () => number,
    readonly onMore: () => void,
    /** True if the lease is kept even when it is empty. */
    readonly isPinned: boolean,
  ) {}

  get free(): number {
    return Math.max(0, this.held - this.inUse());
  }

  /** Maximum number of units that may be in use now. */
  mostNow(nowMs: number): number {
    return nowMs < this.mostUntilMs ? Math.min(this.held, this.most) : this.held;
  }

  takeNow(): boolean {
    if (this.held < 1) return false;
    this.held -= 1;
    this.spent += 1;
    this.isUsed = true;
    return true;
  }

  get needsRefill(): boolean {
    return this.lastLent >= refillFrom && this.held * 2 <= this.lastLent;
  }
}

/** A worker's leases of one budget, by account. */
export class Leases {
  readonly #leases = new Map<string, Lease>();

  constructor(
    readonly terms: BudgetTerms,
    private readonly channel: Channel,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** The lease of a token account. */
  of(key: string): Lease {
    const known = this.#leases.get(key);
    if (known !== undefined) return known;
    if (this.#leases.size >= maxLeases) this.#dropOldest();
    const lease = new Lease(nothingInUse, nothing, false);
    this.#leases.set(key, lease);
    return lease;
  }

  /** Creates a lease of permits. `inUse` returns the number in use; `onMore` is called when the lease has grown. */
  pin(key: string, inUse: () => number, onMore: () => void): Lease {
    const lease = new Lease(inUse, onMore, true);
    this.#leases.set(key, lease);
    return lease;
  }

  /** Ends a lease of permits. A newer lease of the same key stays. */
  unpin(key: string, lease: Lease): void {
    this.giveBack(key, lease);
    if (this.#leases.get(key) === lease) this.#leases.delete(key);
  }

  /** Asks for a larger lease; undefined while that is pointless. Resolves within a second, whatever the outcome. */
  more(key: string, lease: Lease): Promise<void> | undefined {
    if (this.clock.monotonicMs() < lease.idleUntilMs || lease.waiting >= maxWaiting) return undefined;
    return this.#waitForMore(key, lease);
  }

  async #waitForMore(key: string, lease: Lease): Promise<void> {
    lease.waiting += 1;
    try {
      await settles(longestWaitMs, this.refill(key, lease));
    } finally {
      lease.waiting -= 1;
    }
  }

  /** As `more`, without a waiting request. */
  refill(key: string, lease: Lease): Promise<void> {
    return (lease.asking ??= this.#ask(key, lease).finally(() => (lease.asking = undefined)));
  }

  /** Gives back free units, except for `keep`. */
  giveBack(key: string, lease: Lease, keep = 0): void {
    const settled = this.#settle(key, lease, Math.max(0, lease.free - keep));
    if (settled.spent + settled.back > 0) this.#tell([settled]);
  }

  /** Gives back free units: the wanted amount, and at least half of them, so that the next recall is not soon. */
  recall(key: string, wants: number): void {
    const lease = this.#leases.get(key);
    if (lease === undefined) return;
    const { free } = lease;
    this.giveBack(key, lease, free - Math.min(free, Math.max(wants, Math.ceil(free / 2))));
  }

  yield(key: string, most: number): void {
    const lease = this.#leases.get(key);
    if (lease === undefined) return;
    lease.most = most;
    lease.mostUntilMs = this.clock.monotonicMs() + yieldsForMs;
    this.giveExcess(key, lease);
  }

  /** Gives back free units above the current maximum. */
  giveExcess(key: string, lease: Lease): void {
    const excess = lease.held - lease.mostNow(this.clock.monotonicMs());
    if (excess > 0 && lease.free > 0) this.giveBack(key, lease, Math.max(0, lease.free - excess));
  }

  late(key: string, lent: number): void {
    const lease = this.#leases.get(key);
    if (lease === undefined) {
      this.#tell([{ key, spent: 0, back: lent }]);
      return;
    }
    this.#lent(lease, lent);
  }

  /** Gives back units that have not been used for a while. */
  sweep(): void {
    let settled: Settled[] = [];
    for (const [key, lease] of this.#leases) {
      const wasUsed = lease.isUsed;
      lease.isUsed = false;
      if (wasUsed) continue;
      const one = this.#settle(key, lease, lease.free);
      if (one.spent + one.back > 0) settled.push(one);
      if (lease.held === 0 && lease.asking === undefined && !lease.isPinned) this.#leases.delete(key);
      if (settled.length < maxSettled) continue;
      this.#tell(settled);
      settled = [];
    }
    if (settled.length > 0) this.#tell(settled);
  }

  giveBackAll(): void {
    for (const [key, lease] of this.#leases) this.giveBack(key, lease);
  }

  async #ask(key: string, lease: Lease): Promise<void> {
    // Requests of the same turn share one answer.
    await new Promise((resolve) => setImmediate(resolve));
    const { spent, back } = this.#settle(key, lease, 0);
    const wants = Math.max(1, lease.waiting);
    try {
      const { lent, waitMs } = await this.channel.ask(
        lendTopic,
        { terms: this.terms, key, spent, back, wants },
        answerMs,
      );
      if (lent > 0) this.#lent(lease, lent);
      else lease.idleUntilMs = this.clock.monotonicMs() + waitMs;
    } catch (error) {
      if (!(error instanceof NoAnswer && error.wasSent)) lease.spent += spent;
      lease.idleUntilMs = this.clock.monotonicMs() + failedWaitMs;
    }
  }

  #lent(lease: Lease, lent: number): void {
    lease.held += lent;
    lease.lastLent = lent;
    lease.idleUntilMs = -Infinity;
    lease.isUsed = true;
    lease.onMore();
  }

  #dropOldest(): void {
    for (const [key, lease] of this.#leases) {
      if (lease.isPinned) continue;
      this.giveBack(key, lease);
      this.#leases.delete(key);
      return;
    }
  }

  #settle(key: string, lease: Lease, back: number): Settled {
    const { spent } = lease;
    lease.spent = 0;
    lease.held -= back;
    return { key, spent, back };
  }

  #tell(settled: readonly Settled[]): void {
    this.channel.tell(settleTopic, { terms: this.terms, settled });
  }
}

/** All leases of a worker, by budget. */
export class AllLeases {
  readonly #all = new Map<
    string,
    { readonly leases: Leases; readonly timer: NodeJS.Timeout; users: number }
  >();

  constructor(
    private readonly channel: Channel,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {
    channel.answer(recallTopic, ({ budget, key, wants }) =>
      this.#on(budget, (leases) => leases.recall(key, wants)),
    );
    channel.answer(yieldTopic, ({ budget, key, most }) =>
      this.#on(budget, (leases) => leases.yield(key, most)),
    );
    channel.answer(lateTopic, ({ budget, key, lent }) =>
      this.#on(budget, (leases) => leases.late(key, lent)),
    );
  }

  /** The leases of a budget, for one more user. Each user calls `leave` at its end. */
  of(terms: BudgetTerms): Leases {
    const known = this.#all.get(terms.name) ?? this.#make(terms);
    known.users += 1;
    return known.leases;
  }

  leave(name: string): void {
    const known = this.#all.get(name);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    clearInterval(known.timer);
    known.leases.giveBackAll();
    this.#all.delete(name);
  }

  #make(terms: BudgetTerms): { readonly leases: Leases; readonly timer: NodeJS.Timeout; users: number } {
    const leases = new Leases(terms, this.channel, this.clock);
    const made = { leases, timer: startInterval(() => leases.sweep(), idleMs).unref(), users: 0 };
    this.#all.set(terms.name, made);
    return made;
  }

  #on(budget: string, act: (leases: Leases) => void): null {
    const known = this.#all.get(budget);
    if (known !== undefined) act(known.leases);
    return null;
  }
}
