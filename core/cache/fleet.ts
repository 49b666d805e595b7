import { OverrideStack } from '../base/override-stack.js';
import type { Host } from '../kernel/plugin/host.js';

/** The most bytes of a snapshot of what a process knows. */
export const largestSnapshot = 8 * 1024 * 1024;

/**
 * Empties the caches of the other replicas, those of one tenant where its id is given; by address, `purged` or `error: ...`.
 * @param news of a deletion, for `Fleet.hear` of the others
 */
export type PurgeOthers = (tenantId?: string, news?: string) => Promise<ReadonlyMap<string, string>>;

/** What this process knows of something, as bytes, `largestSnapshot` at most; undefined for nothing. */
export type Offer = () => Promise<Buffer | undefined>;

/** How other replicas are asked for what they know. */
export interface Asking {
  /** By which name they offer it. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Ends it before. */
  readonly signal: AbortSignal;
  /** Takes what one of them knows. What it throws is logged. */
  readonly use: (bytes: Buffer, signal: AbortSignal) => Promise<void>;
}

/** What the one who knows the other replicas does for the rest of the process. */
export interface Others {
  readonly purge: PurgeOthers;
  /** Asks some of them; resolves when they have answered or the time is over. Rejects when the signal says so. */
  readonly ask: (asking: Asking) => Promise<void>;
}

/** The replicas that share a cache: for those who empty it, and for those who begin with what others know. */
export class Fleet {
  readonly #others = new OverrideStack<Others>();
  readonly #listeners = new OverrideStack<(news: string) => Promise<void>>();
  readonly #offers = new Map<string, OverrideStack<Offer>>();
  /** Those who ask at once get the same, unless some of it is purged meanwhile. */
  readonly #making = new Map<string, Promise<Buffer | undefined>>();

  /** Called by who knows the others. Returns what ends it. */
  join(others: Others): () => void {
    return this.#others.claim(others);
  }

  /** Undefined where no cache is shared. */
  async purgeOthers(tenantId?: string, news?: string): Promise<ReadonlyMap<string, string> | undefined> {
    return this.#others.current?.purge(tenantId, news);
  }

  /** Says who is told of the deletions of other replicas. Returns what ends it. */
  listen(listener: (news: string) => Promise<void>): () => void {
    return this.#listeners.claim(listener);
  }

  /** Another replica has told of a deletion; what it has purged is purged here after this. */
  async hear(news: string): Promise<void> {
    await this.#listeners.current?.(news);
  }

  /** Says what the others get when they ask by this name. Returns what ends it. */
  offer(name: string, offer: Offer): () => void {
    const claims = this.#offers.get(name) ?? new OverrideStack<Offer>();
    this.#offers.set(name, claims);
    return claims.claim(offer);
  }

  /** What is being made for the others is not handed out: some of what it tells has been purged. */
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

  /** Does nothing where there are no others. */
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
