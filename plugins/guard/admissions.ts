import { FairQueue, type Owner } from '../../core/base/admission/fair-queue.js';
import { heldPlace, type HeldPlace } from '../../core/base/admission/place.js';
import { WaitBudget } from '../../core/base/admission/wait-budget.js';

/** `concurrency`: all places are taken; `overload`: the turn did not come in time. */
export type RefusalReason = 'concurrency' | 'overload';

export interface AdmissionsOptions {
  /** Requests at most that run or wait to run; 0 admits everything. */
  readonly max: number;
  /** How many of them may run now. */
  readonly limit: () => number;
  /** The longest wait for a turn. */
  readonly queueWaitMs: number;
  readonly nowMs: () => number;
  /** The error for one too many, or for one who waited in vain. */
  readonly refusal: (reason: RefusalReason) => Error;
  readonly onChange: (running: number, waiting: number) => void;
}

/** A request in the eyes of the parts it was taken apart into. */
interface Admitted {
  readonly owner: Owner;
  /** Until when it waits; undefined when it never had to. */
  readonly turn: Promise<void> | undefined;
  /** Parts that are at work and do not wait for others. */
  active: number;
  holds: boolean;
}

/** What is waited at most under overload: refusals are to come quickly, and whoever is admitted is to be served quickly. */
const briefWaitMs = 5;
/** An overload has ended when nobody was refused for so long, which is more than a loop under load is ever late. */
const overloadedForMs = 5_000;

/**
 * Decides which requests run, which wait for their turn and which are refused. Turns are shared out among tenants, and among the
 * clients of one tenant. A burst waits; under overload those of an owner that has no less than its share wait but briefly. A request
 * that a stage before took apart (one part per tenant) holds one place for all its parts: they share an object, its trace.
 */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #queue: FairQueue;
  readonly #requests = new WeakMap<object, Admitted>();
  #refusedAtMs = -Infinity;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
    const { max, nowMs } = options;
    const refusal = (isFull: boolean): Error => this.#refused(isFull ? 'concurrency' : 'overload');
    // Beyond those who fill the places there is room for owners that have less than their share.
    this.#queue = new FairQueue({ maxWaiting: 2 * max, refusal, nowMs });
  }

  get inFlight(): number {
    return this.#queue.running;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** True for the first part of a request that ever asked. */
  isFirst(request: object): boolean {
    return !this.#requests.has(request);
  }

  /**
   * Takes a place, at once where there is one.
   * @throws the refusal, or the reason of the signal, also by the promise
   */
  enter(request: object, owner: Owner, signal: AbortSignal): HeldPlace | Promise<HeldPlace> {
    let admitted = this.#requests.get(request);
    if (admitted === undefined) {
      admitted = { owner, turn: this.#turn(owner, signal), active: 0, holds: true };
      this.#requests.set(request, admitted);
    }
    const { turn } = admitted;
    return turn === undefined ? this.#hold(admitted) : this.#afterTurn(admitted, turn);
  }

  /** Lets those in who may run now; for when the limit has risen. */
  admit(): void {
    while (this.#hasPlace() && this.#queue.admitNext());
    this.#tell();
  }

  async #afterTurn(admitted: Admitted, turn: Promise<void>): Promise<HeldPlace> {
    await turn;
    return this.#hold(admitted);
  }

  /** Takes a place, or gives the wait for one. */
  #turn(owner: Owner, signal: AbortSignal): Promise<void> | undefined {
    const { max, limit, nowMs, queueWaitMs } = this.#options;
    const queue = this.#queue;
    if (queue.waiting === 0 && this.#hasPlace()) {
      queue.take(owner);
      this.#tell();
      return undefined;
    }
    if (queue.running + queue.waiting >= max && !queue.isBelowShare(owner, max))
      return Promise.reject(this.#refused('concurrency'));
    const isBrief = this.#isOverloaded() && !queue.isBelowShare(owner, limit());
    const budget = new WaitBudget(isBrief ? briefWaitMs : queueWaitMs, nowMs);
    const turn = queue.wait(owner, 'place', budget, signal);
    this.#tell();
    return turn.finally(() => this.#tell());
  }

  #hasPlace(): boolean {
    const { max, limit } = this.#options;
    return max === 0 || this.#queue.running < limit();
  }

  /** Refusals say that more comes than can be borne. They keep the queue short, so its length does not. */
  #isOverloaded(): boolean {
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
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}
