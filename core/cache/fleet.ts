import { OverrideStack } from '../base/override-stack.js';
import type { Host } from '../kernel/plugin/host.js';

/** Maximum size of a snapshot sent to another replica. */
export const largestSnapshot = 8 * 1024 * 1024;

/**
 * Purges the caches of the other replicas, for one tenant if its id is given. Resolves to `purged` or `error: ...` by address.
 * @param news about a deletion, passed to `Fleet.hear` of the others
 */
export type PurgeOthers = (tenantId?: string, news?: string) => Promise<ReadonlyMap<string, string>>;

/** Makes a snapshot of this process's data, `largestSnapshot` bytes at most; undefined if there is none. */
export type Offer = () => Promise<Buffer | undefined>;

/** A request for snapshots of other replicas. */
export interface Asking {
  /** The name under which they offer it. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Cancels the request. */
  readonly signal: AbortSignal;
  /** Takes the snapshot of one replica. Errors are logged. */
  readonly use: (bytes: Buffer, signal: AbortSignal) => Promise<void>;
}

/** The connection to the other replicas, provided by the plugin that knows them. */
export interface Others {
  readonly purge: PurgeOthers;
  /** Requests snapshots from some of them; resolves when they have answered or the timeout has passed. Rejects when the signal aborts. */
  readonly ask: (asking: Asking) => Promise<void>;
}

/** The replicas that share a cache: used to purge all of them, and to start with a snapshot of another one. */
export class Fleet {
  readonly #others = new OverrideStack<Others>();
  readonly #listeners = new OverrideStack<(news: string) => Promise<void>>();
  readonly #offers = new Map<string, OverrideStack<Offer>>();
  /** Snapshots being made: concurrent requests share one, unless some of its data is purged meanwhile. */
  readonly #making = new Map<string, Promise<Buffer | undefined>>();

  /** Registers the connection to the other replicas. The returned function removes it. */
  join(others: Others): () => void {
    return this.#others.claim(others);
  }

  /** Undefined if no cache is shared. */
  async purgeOthers(tenantId?: string, news?: string): Promise<ReadonlyMap<string, string> | undefined> {
    return this.#others.current?.purge(tenantId, news);
  }

  /** Sets the listener for deletions of other replicas. The returned function removes it. */
  listen(listener: (news: string) => Promise<void>): () => void {
    return this.#listeners.claim(listener);
  }

  /** Handles news of a deletion on another replica. Its purge is applied here after this has resolved. */
  async hear(news: string): Promise<void> {
    await this.#listeners.current?.(news);
  }

  /** Offers a snapshot to other replicas under this name. The returned function ends the offer. */
  offer(name: string, offer: Offer): () => void {
    const claims = this.#offers.get(name) ?? new OverrideStack<Offer>();
    this.#offers.set(name, claims);
    return claims.claim(offer);
  }

  /** Discards snapshots in the making, because some of their data has been purged. */
  withdraw(name: string): void {
    this.#making.delete(name);
  }

  hasOffer(name: string): boolean {
    return this.#offers.get(name)?.current !== undefined;
  }

  offered(name: string): Promise<Buffer | undefined> {
    const making = this.#making.get(name);
    if (making !== undefined) return making;
    const made: Promise<Buffer | undefined> = this.#make(name).then((bytes) => {
      const isWithdrawn = this.#making.get(name) !== made;
      if (!isWithdrawn) this.#making.delete(name);
      return isWithdrawn ? undefined : bytes;
    });
    this.#making.set(name, made);
    return made;
  }

  /** Requests snapshots; does nothing without other replicas. */
  async ask(asking: Asking): Promise<void> {
    await this.#others.current?.ask(asking);
  }

  async #make(name: string): Promise<Buffer | undefined> {
    return this.#offers.get(name)?.current?.();
  }
}

/** The fleet of this process. */
export function fleetOf(host: Pick<Host, 'shared'>): Fleet {
  return host.shared('fleet', () => new Fleet());
}
