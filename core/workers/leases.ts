import type { Clock } from '../base/clock.js';
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

/**
 * How many may wait, and for how long, while the first process is asked for more: it answers in less than a millisecond where it gets a
 * processor, and a request refused in error is worse than a late one.
 */
const longestWaitMs = 1_000;
const maxWaiting = 1_024;
/** An answer that comes late still counts: what it lends would be lost otherwise. */
const answerMs = 60_000;
const failedWaitMs = 100;
/** What was not needed for this long is given back. */
const idleMs = 500;
const yieldsForMs = 1_000;
/** A part that was lent beyond what was needed is asked for again before it is used up. */
const refillFrom = 4;
const maxLeases = 65_536;
/** What one message settles. */
const maxSettled = 1_000;

const nothingInUse = (): number => 0;
const nothing = (): void => undefined;

/** What a worker has been lent of one account. Tokens are spent; places are in use for a while. */
export class Lease {
  held = 0;
  /** Since it was last told. */
  spent = 0;
  /** What the last answer lent. */
  lastLent = 0;
  /** Whether it was needed since the last look. */
  isUsed = true;
  asking: Promise<void> | undefined;
  waiting = 0;
  /** Asking is of no use before. */
  idleUntilMs = -Infinity;
  /** No more than this is to be held until then. */
  most = Infinity;
  mostUntilMs = -Infinity;

  constructor(
    /** How many of those that are held are in use. */
    readonly inUse: () => number,
    readonly onMore: () => void,
    /** It is held on to although it is empty. */
    readonly isPinned: boolean,
  ) {}

  get free(): number {
    return Math.max(0, this.held - this.inUse());
  }

  /** How many may be in use now. */
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

/** What a worker has been lent of one budget, by account. */
export class Leases {
  readonly #leases = new Map<string, Lease>();

  constructor(
    readonly terms: BudgetTerms,
    private readonly channel: Channel,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** Of tokens, which are spent. */
  of(key: string): Lease {
    const known = this.#leases.get(key);
    if (known !== undefined) return known;
    if (this.#leases.size >= maxLeases) this.#dropOldest();
    const lease = new Lease(nothingInUse, nothing, false);
    this.#leases.set(key, lease);
    return lease;
  }

  /** Of places: `inUse` tells how many are taken; `onMore` is told when there are more than before. */
  pin(key: string, inUse: () => number, onMore: () => void): Lease {
    const lease = new Lease(inUse, onMore, true);
    this.#leases.set(key, lease);
    return lease;
  }

  /** Nobody uses the places any more; those who took them up with the same key have others. */
  unpin(key: string, lease: Lease): void {
    this.giveBack(key, lease);
    if (this.#leases.get(key) === lease) this.#leases.delete(key);
  }

  /** Asks for more of an account; undefined while that is of no use. Resolves, after a moment at most, whatever came of it. */
  more(key: string, lease: Lease): Promise<void> | undefined {
    if (this.clock.monotonicMs() < lease.idleUntilMs || lease.waiting >= maxWaiting) return undefined;
    lease.waiting += 1;
    return within(longestWaitMs, this.refill(key, lease)).finally(() => (lease.waiting -= 1));
  }

  /** As `more`, for nobody who waits. */
  refill(key: string, lease: Lease): Promise<void> {
    return (lease.asking ??= this.#ask(key, lease).finally(() => (lease.asking = undefined)));
  }

  /** Gives back what is free beyond what is to be kept. */
  giveBack(key: string, lease: Lease, keep = 0): void {
    const settled = this.#settle(key, lease, Math.max(0, lease.free - keep));
    if (settled.spent + settled.back > 0) this.#tell([settled]);
  }

  /** Gives back a part of what is free, so that it need not be asked for again soon: as much as is wanted, and no less than half. */
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

  /** Gives back what it holds beyond what it is to hold, as far as that is free. */
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

  /** Gives back what has not been needed for a while. */
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
    // Those that come in the same turn wait for the same answer.
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

/** All that a worker has been lent, by budget. */
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

  /** For one user more, until it leaves. */
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
    const made = { leases, timer: setInterval(() => leases.sweep(), idleMs).unref(), users: 0 };
    this.#all.set(terms.name, made);
    return made;
  }

  #on(budget: string, act: (leases: Leases) => void): null {
    const known = this.#all.get(budget);
    if (known !== undefined) act(known.leases);
    return null;
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, over]);
  clearTimeout(timer);
}
