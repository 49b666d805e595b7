import type { Clock } from '../base/clock.js';

export interface BudgetOptions {
  /** Capacity of each account. */
  readonly size: number;
  /** Tokens refilled per second; 0 for permits, which are free again when they are given back. */
  readonly perSecond: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Maximum number of accounts; the least recently used is dropped. */
  readonly maxAccounts?: number;
}

interface Account {
  free: number;
  atMs: number;
  /** Leased amount by worker; undefined while there is no lease. */
  lent: Map<number, number> | undefined;
}

const defaultMaxAccounts = 65_536;
/** An account that was unused for this long is dropped (docs/protocol/errors-and-limits.md#rate-and-requests-in-flight). */
const idleMs = 10 * 60_000;
const sweepEveryMs = 5 * 60_000;
/** Maximum leased to a worker beyond its request. It bounds the loss when a worker dies. */
const maxSpare = 256;

/**
 * One account per key, such as a remote address, in bounded memory: either a token bucket, which gives a steady rate with bursts, or a
 * number of permits. The free and leased amounts together never exceed the size.
 */
export class Budget {
  /** Accounts in order of last use. */
  readonly #accounts = new Map<string, Account>();
  readonly #options: BudgetOptions;
  #sweptAtMs: number;
  #newest: Account | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#sweptAtMs = options.clock.monotonicMs();
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  /** Takes one unit for good; false if none is free. */
  take(key: string): boolean {
    const account = this.#use(key);
    if (account.free < 1) return false;
    account.free -= 1;
    return true;
  }

  /** Leases to a worker the amount it wants, or more while much is free: a small part of it, since other workers need some too. */
  lend(key: string, worker: number, wants: number, workers: number): number {
    const account = this.#use(key);
    const spare = Math.min(maxSpare, Math.floor(account.free / (2 * workers)));
    const lent = Math.min(Math.floor(account.free), Math.max(wants, spare));
    if (lent < 1) return 0;
    account.free -= lent;
    account.lent ??= new Map();
    account.lent.set(worker, (account.lent.get(worker) ?? 0) + lent);
    return lent;
  }

  /** Settles part of a worker's lease: some of it was spent, some is given back. */
  settle(key: string, worker: number, spent: number, back: number): void {
    const { lent } = this.#accounts.get(key) ?? {};
    if (lent === undefined || spent + back === 0) return;
    const account = this.#use(key);
    const left = (lent.get(worker) ?? 0) - spent - back;
    if (left > 0) lent.set(worker, left);
    else lent.delete(worker);
    if (lent.size === 0) account.lent = undefined;
    account.free = Math.min(this.#options.size - lentOf(account), account.free + back);
  }

  /** Leased amount of an account, by worker. */
  lentBy(key: string): ReadonlyMap<number, number> {
    return this.#accounts.get(key)?.lent ?? none;
  }

  /** Milliseconds until the refill yields the next token. */
  waitMs(key: string): number {
    const { perSecond } = this.#options;
    return Math.ceil(((1 - this.#use(key).free) * 1000) / perSecond);
  }

  /**
   * Ends all leases of a worker that has died. Tokens count as spent, permits are free again. Returns the keys of the accounts concerned.
   */
  forget(worker: number): readonly string[] {
    const keys: string[] = [];
    for (const [key, account] of this.#accounts) {
      const held = account.lent?.get(worker);
      if (held === undefined) continue;
      keys.push(key);
      if (this.#options.perSecond > 0) this.settle(key, worker, held, 0);
      else this.settle(key, worker, 0, held);
    }
    return keys;
  }

  #use(key: string): Account {
    const { perSecond, size, clock, maxAccounts = defaultMaxAccounts } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#sweep(nowMs);
    const known = this.#accounts.get(key);
    const account = known ?? { free: size, atMs: nowMs, lent: undefined };
    const most = account.lent === undefined ? size : size - lentOf(account);
    account.free = Math.min(most, account.free + ((nowMs - account.atMs) / 1000) * perSecond);
    account.atMs = nowMs;
    if (account !== this.#newest) {
      if (known !== undefined) this.#accounts.delete(key);
      else if (this.#accounts.size >= maxAccounts) this.#dropOldest();
      this.#accounts.set(key, account);
      this.#newest = account;
    }
    return account;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = nowMs;
    for (const [key, account] of this.#accounts) {
      if (nowMs - account.atMs < idleMs) return;
      if (account.lent === undefined) this.#drop(key, account);
    }
  }

  #dropOldest(): void {
    for (const [key, account] of this.#accounts) {
      this.#drop(key, account);
      return;
    }
  }

  #drop(key: string, account: Account): void {
    this.#accounts.delete(key);
    if (account === this.#newest) this.#newest = undefined;
  }
}

const none: ReadonlyMap<number, number> = new Map();

function lentOf({ lent }: Account): number {
  let sum = 0;
  for (const held of lent?.values() ?? []) sum += held;
  return sum;
}
