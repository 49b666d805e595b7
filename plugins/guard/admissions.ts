import { FairQueue, type Owner, heldPermit, type HeldPermit } from '../../core/base/admission/fair-queue.js';
import { Attached } from '../../core/base/memory/account.js';
import { WaitBudget } from '../../core/base/time/waits.js';
import type { PermitShares } from '../../core/workers/workers.js';

/** `concurrency`: all permits are taken; `overload`: the request timed out in the queue. */
export type RefusalReason = 'concurrency' | 'overload';

export interface AdmissionsOptions {
  /** Maximum number of running and queued requests, here and in other workers together; 0 means unlimited. */
  readonly max: number;
  /** Returns the number of requests that may run here now. */
  readonly limit: () => number;
  /** Registers for the permits that all workers share, with the number in use here. */
  readonly permitsOf: (inUse: () => number, onMore: () => void) => PermitShares;
  /** Timeout in the queue. */
  readonly queueWaitMs: number;
  readonly nowMs: () => number;
  /** Makes the error for a refused request. */
  readonly refusal: (reason: RefusalReason) => Error;
  readonly onChange: (running: number, waiting: number) => void;
}

/** A request, shared by the parts into which an earlier stage has split it. */
interface Admitted {
  readonly owner: Owner;
  /** Resolves when the request may run; undefined if it did not queue. */
  readonly turn: Promise<void> | undefined;
  /** Number of parts that are running rather than waiting for others. */
  active: number;
  holds: boolean;
}

/** Time during which a request tries to get a permit from other workers before it queues here. */
const askForMs = 1_000;
/** Overload ends after this long without a refusal, which is longer than any delay of a loaded event loop. */
const overloadedForMs = 5_000;

/**
 * Decides which requests run, which queue and which are refused. Permits are shared fairly among tenants, and among the clients of one
 * tenant. Bursts queue; under overload, requests of owners at or above their share queue only briefly. A request that an earlier stage has
 * split (one part per tenant) holds one permit for all its parts, which are identified by their common trace object.
 */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #queue: FairQueue;
  readonly #demand: Demand;
  readonly #permits: PermitShares;
  readonly #requests = new Attached<Admitted>();
  #refusedAtMs = -Infinity;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
    const { max, nowMs, permitsOf } = options;
    this.#demand = new Demand(nowMs);
    const refusal = (isFull: boolean): Error => this.#refused(isFull ? 'concurrency' : 'overload');
    // The queue also has room for owners below their share while others fill it.
    this.#queue = new FairQueue({ maxWaiting: 2 * max, refusal, nowMs });
    this.#permits = permitsOf(
      () => this.#queue.running + this.#queue.waiting,
      () => this.admit(),
    );
  }

  get inFlight(): number {
    return this.#queue.running;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Tells whether a request would run at once. */
  get hasPermit(): boolean {
    return this.#queue.waiting === 0 && this.#hasPermit();
  }

  /** Tells whether background work may run: it leaves at least one permit free. */
  get hasRoom(): boolean {
    const { max } = this.#options;
    return max === 0 || (this.#queue.waiting === 0 && this.#queue.running + 1 < this.#limit());
  }

  /** Asks again for permits for queued requests, since some may be free by now. */
  moreForWaiting(): void {
    if (this.#queue.waiting > 0 && this.#queue.running >= this.#permits.held) void this.more();
  }

  /** Asks for more of the shared permits; undefined while that is pointless. */
  more(): Promise<void> | undefined {
    return this.#options.max === 0 ? undefined : this.#permits.more();
  }

  /**
   * Takes a permit, immediately if one is free, for the first part of a request. `pay` runs before that and may refuse the request.
   * @throws the refusal or the signal's reason, directly or by rejecting
   */
  enter(
    request: object,
    owner: Owner,
    signal: AbortSignal,
    pay?: () => Promise<void> | undefined,
  ): HeldPermit | Promise<HeldPermit> {
    let admitted = this.#requests.get(request);
    if (admitted === undefined) {
      const paying = pay?.();
      if (owner[0] !== undefined) this.#demand.count(owner[0]);
      const turn =
        paying === undefined ? this.#turn(owner, signal) : this.#afterPaying(paying, owner, signal);
      admitted = { owner, turn, active: 0, holds: true };
      this.#requests.set(request, admitted);
    }
    const { turn } = admitted;
    return turn === undefined ? this.#hold(admitted) : this.#afterTurn(admitted, turn);
  }

  /** Admits queued requests that may run now, after the limit has risen. */
  admit(): void {
    while (this.#hasPermit() && this.#queue.admitNext());
    this.#tell();
  }

  async #afterPaying(paying: Promise<void>, owner: Owner, signal: AbortSignal): Promise<void> {
    await paying;
    await this.#turn(owner, signal);
  }

  async #afterTurn(admitted: Admitted, turn: Promise<void>): Promise<HeldPermit> {
    await turn;
    return this.#hold(admitted);
  }

  /** Takes a permit, or returns a promise to wait for. */
  #turn(owner: Owner, signal: AbortSignal): Promise<void> | undefined {
    if (this.#takeFree(owner)) return undefined;
    const more = this.#isFull() ? this.more() : undefined;
    return more === undefined ? this.#wait(owner, signal) : this.#afterMore(more, owner, signal);
  }

  /** Other requests may take the new permits first, so it asks again while there are some. */
  async #afterMore(first: Promise<void>, owner: Owner, signal: AbortSignal): Promise<void> {
    const { nowMs } = this.#options;
    const untilMs = nowMs() + askForMs;
    for (let more: Promise<void> | undefined = first; more !== undefined;) {
      await more;
      signal.throwIfAborted();
      if (this.#takeFree(owner)) return;
      more = this.#isFull() && nowMs() < untilMs ? this.more() : undefined;
    }
    await this.#wait(owner, signal);
  }

  #takeFree(owner: Owner): boolean {
    if (!this.hasPermit) return false;
    this.#queue.take(owner);
    this.#tell();
    return true;
  }

  #isFull(): boolean {
    const { running, waiting } = this.#queue;
    return running + waiting >= this.#permits.held;
  }

  #wait(owner: Owner, signal: AbortSignal): Promise<void> {
    const { nowMs, queueWaitMs } = this.#options;
    const queue = this.#queue;
    const max = this.#permits.held;
    if (this.#isFull() && !queue.isBelowShare(owner, max))
      return Promise.reject(this.#refused('concurrency'));
    if (this.isRefusing && !this.#mayWait(owner)) return Promise.reject(this.#refused('overload'));
    const budget = new WaitBudget(queueWaitMs, nowMs);
    const turn = queue.wait(owner, 'permit', budget, signal);
    this.#tell();
    return turn.finally(() => this.#tell());
  }

  /**
   * Under overload, refusals should be immediate and admitted requests served soon. So only requests of underserved tenants queue: tenants
   * below their share of the permits, or with fewer requests than another tenant. The length of the queue does not show which tenant sends
   * most, because those requests are refused.
   */
  #mayWait(owner: Owner): boolean {
    const queue = this.#queue;
    const permits = this.#limit();
    if (queue.isBelowShare(owner, permits)) return true;
    const [tenant] = owner;
    return tenant !== undefined && queue.waiting < 2 * permits && !this.#demand.isLargest(tenant);
  }

  #hasPermit(): boolean {
    return this.#options.max === 0 || this.#queue.running < this.#limit();
  }

  #limit(): number {
    return Math.min(this.#options.limit(), this.#permits.most);
  }

  /** Tells whether there is overload. Refusals keep the queue short, so its length is no indication. */
  get isRefusing(): boolean {
    return this.#options.nowMs() - this.#refusedAtMs < overloadedForMs;
  }

  #refused(reason: RefusalReason): Error {
    this.#refusedAtMs = this.#options.nowMs();
    return this.#options.refusal(reason);
  }

  #hold(admitted: Admitted): HeldPermit {
    this.#come(admitted);
    return heldPermit(
      () => this.#come(admitted),
      () => this.#go(admitted),
    );
  }

  #come(admitted: Admitted): void {
    admitted.active += 1;
    if (admitted.holds) return;
    admitted.holds = true;
    this.#queue.take(admitted.owner);
    this.#tell();
  }

  #go(admitted: Admitted): void {
    admitted.active -= 1;
    if (admitted.active > 0) return;
    admitted.holds = false;
    this.#queue.release(admitted.owner);
    this.admit();
  }

  #tell(): void {
    this.#permits.changed();
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}

/** Length of a window: requests of one burst should be counted together. */
const windowMs = 1_000;
/** Maximum number of parties counted. Callers choose the names; further ones are not counted. */
const maxNames = 1_000;

type Counts = Map<string | object, number>;

/** Number of requests of each party in this window and the one before, including refused ones. */
class Demand {
  readonly #nowMs: () => number;
  #window = 0;
  #now: Counts = new Map();
  #before: Counts = new Map();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a request of this party. */
  count(name: string | object): void {
    this.#turn();
    const known = this.#now.get(name);
    if (known !== undefined || this.#now.size < maxNames) this.#now.set(name, (known ?? 0) + 1);
  }

  /** Tells whether no other party has sent more requests. */
  isLargest(name: string | object): boolean {
    this.#turn();
    const own = this.#of(name);
    for (const counts of [this.#now, this.#before])
      for (const other of counts.keys()) if (this.#of(other) > own) return false;
    return true;
  }

  #of(name: string | object): number {
    return (this.#now.get(name) ?? 0) + (this.#before.get(name) ?? 0);
  }

  #turn(): void {
    const window = Math.floor(this.#nowMs() / windowMs);
    if (window === this.#window) return;
    this.#before = window === this.#window + 1 ? this.#now : new Map<string | object, number>();
    this.#now = new Map();
    this.#window = window;
  }
}
