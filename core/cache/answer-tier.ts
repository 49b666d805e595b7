/** A value of a tier, and how long it is still fresh; below 0 when it has expired. */
export interface AnswerHit {
  readonly packed: Buffer;
  readonly leftMs: number;
  /** Since it was made. */
  readonly ageMs: number;
}

/**
 * A tier of packed answers behind memory: the disk of this process, its peers, a store that is shared. It has bounds and waits of its own,
 * never throws for what goes wrong beyond it, and hands out nothing that it cannot tell to be what was written under that key. Keys begin
 * with the tenant.
 */
export interface AnswerTier {
  get(key: string): Promise<AnswerHit | undefined>;
  /** Takes a value that was just made. */
  set(key: string, packed: Buffer, ttlMs: number): void;
  delete(key: string): Promise<void>;
  /** Drops all. */
  purge(): Promise<void>;
  /** Drops what is kept under keys with this beginning; it is not found meanwhile. */
  purgeBeginning(prefix: string): Promise<void>;
}
