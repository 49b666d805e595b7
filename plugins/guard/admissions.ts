import { FairQueue, type Owner } from '../../core/base/admission/fair-queue.js';
import { Attached } from '../../core/base/memory/attached.js';
import { heldPlace, type HeldPlace } from '../../core/base/admission/place.js';
import type { Places } from '../../core/workers/workers.js';
import { WaitBudget } from '../../core/base/admission/wait-budget.js';

/** `concurrency`: all places are taken; `overload`: the request waited too long for its turn. */
export type RefusalReason = 'concurrency' | 'overload';

export interface AdmissionsOptions {
  /** The most requests running or waiting, here and in other workers together; 0 admits everything. */
  readonly max: number;
  /** How many requests may run here now. */
  readonly limit: () => number;
  /** Those places of all that this process has, by what is taken of them here; all unless given. */
  readonly placesOf?: (inUse: () => number, onMore: () => void) => Places;
  /** The longest wait for a turn. */
  readonly queueWaitMs: number;
  readonly nowMs: () => number;
  /** The error for a request that is too many, or that waited too long. */
  readonly refusal: (reason: RefusalReason) => Error;
  readonly onChange: (running: number, waiting: number) => void;
}

/** A request, shared by the parts into which an earlier stage has split it. */
interface Admitted {
  readonly owner: Owner;
  /** Resolves at its turn; undefined when it did not have to wait. */
  readonly turn: Promise<void> | undefined;
  /** Parts that are running and not waiting for others. */
  active: number;
  holds: boolean;
}

function allOf(max: number): Places {
  return { held: max, most: max, more: () => undefined, changed: () => undefined, release: () => undefined };
}

/** How long a request asks for a place of other workers again and again before it waits for one here. */
const askForMs = 1_000;
/** Overload ends after this long without a refusal, which is longer than any delay of a loaded event loop. */
const overloadedForMs = 5_000;

/**
 * Decides which requests run, which wait for their turn and which are refused. Turns are shared among tenants, and among the clients of one
 * tenant. A burst waits; under overload, requests of owners with at least their share wait only briefly. A request that an earlier stage
 * has split (one part per tenant) holds one place for all its parts, which share one object, its trace.
 */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #queue: FairQueue;
  readonly #demand: Demand;
  readonly #places: Places;
  readonly #requests = new Attached<Admitted>();
  #refusedAtMs = -Infinity;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
    const { max, nowMs, placesOf = () => allOf(max) } = options;
    this.#demand = new Demand(nowMs);
    const refusal = (isFull: boolean): Error => this.#refused(isFull ? 'concurrency' : 'overload');
    // In addition to the requests that fill the places, there is room for owners with less than their share.
    this.#queue = new FairQueue({ maxWaiting: 2 * max, refusal, nowMs });
    this.#places = placesOf(
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

  /** Whether a request would run at once. */
  get hasPlace(): boolean {
    return this.#queue.waiting === 0 && this.#hasPlace();
  }

  /** Whether a request that nobody waits for may run: it leaves a place for others. */
  get hasRoom(): boolean {
    const { max } = this.#options;
    return max === 0 || (this.#queue.waiting === 0 && this.#queue.running + 1 < this.#limit());
  }

  /** Requests wait, and what was asked for them in vain may be free by now. */
  moreForWaiting(): void {
    if (this.#queue.waiting > 0 && this.#queue.running >= this.#places.held) void this.more();
  }

  /** Asks for more of the places of all; undefined where that is of no use. */
  more(): Promise<void> | undefined {
    return this.#options.max === 0 ? undefined : this.#places.more();
  }

  /**
   * Takes a place, immediately if one is free, for the first part of a request. Before that `pay` is called, which may refuse it.
   * @throws the refusal or the signal's reason, directly or by rejecting
   */
  enter(
    request: object,
    owner: Owner,
    signal: AbortSignal,
    pay?: () => Promise<void> | undefined,
  ): HeldPlace | Promise<HeldPlace> {
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

  /** Admits the requests that may run now, after the limit has risen. */
  admit(): void {
    while (this.#hasPlace() && this.#queue.admitNext());
    this.#tell();
  }

  async #afterPaying(paying: Promise<void>, owner: Owner, signal: AbortSignal): Promise<void> {
    await paying;
    await this.#turn(owner, signal);
  }

  async #afterTurn(admitted: Admitted, turn: Promise<void>): Promise<HeldPlace> {
    await turn;
    return this.#hold(admitted);
  }

  /** Takes a place, or returns a promise to wait for. */
  #turn(owner: Owner, signal: AbortSignal): Promise<void> | undefined {
    if (this.#takeFree(owner)) return undefined;
    const more = this.#isFull() ? this.more() : undefined;
    return more === undefined ? this.#wait(owner, signal) : this.#afterMore(more, owner, signal);
  }

  /** Others may be faster to take what has come: it is asked for again while there is some. */
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
    if (!this.hasPlace) return false;
    this.#queue.take(owner);
    this.#tell();
    return true;
  }

  #isFull(): boolean {
    const { running, waiting } = this.#queue;
    return running + waiting >= this.#places.held;
  }

  #wait(owner: Owner, signal: AbortSignal): Promise<void> {
    const { nowMs, queueWaitMs } = this.#options;
    const queue = this.#queue;
    const max = this.#places.held;
    if (this.#isFull() && !queue.isBelowShare(owner, max))
      return Promise.reject(this.#refused('concurrency'));
    if (this.isRefusing && !this.#mayWait(owner)) return Promise.reject(this.#refused('overload'));
    const budget = new WaitBudget(queueWaitMs, nowMs);
    const turn = queue.wait(owner, 'place', budget, signal);
    this.#tell();
    return turn.finally(() => this.#tell());
  }

  /**
   * Under overload, refusals should come at once and admitted requests be served soon, so only those wait whose tenant has not had its part:
   * its share of the places, or else asks less often than another one: how much waits says little of who asks most, as those are refused.
   */
  #mayWait(owner: Owner): boolean {
    const queue = this.#queue;
    const places = this.#limit();
    if (queue.isBelowShare(owner, places)) return true;
    const [tenant] = owner;
    return tenant !== undefined && queue.waiting < 2 * places && !this.#demand.isLargest(tenant);
  }

  #hasPlace(): boolean {
    return this.#options.max === 0 || this.#queue.running < this.#limit();
  }

  #limit(): number {
    return Math.min(this.#options.limit(), this.#places.most);
  }

  /** Whether there is overload. Refusals keep the queue short, so its length says nothing. */
  get isRefusing(): boolean {
    return this.#options.nowMs() - this.#refusedAtMs < overloadedForMs;
  }

  #refused(reason: RefusalReason): Error {
    this.#refusedAtMs = this.#options.nowMs();
    return this.#options.refusal(reason);
  }

  #hold(admitted: Admitted): HeldPlace {
    this.#come(admitted);
    return heldPlace(
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
    this.#places.changed();
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}

/** Windows are as long as a burst that is to count as one. */
const windowMs = 1_000;
/** Callers choose the names; who comes when so many have asked is not counted. */
const maxNames = 1_000;

type Counts = Map<string | object, number>;

/** How often each party has asked in this window and the one before, refused requests included. */
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

  /** Whether no other party has asked more often. */
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
