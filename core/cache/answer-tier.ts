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
  /** @param forOthers another process asks: nothing will be set or given up here */
  get(key: string, forOthers?: boolean): Promise<AnswerHit | undefined>;
  /** Takes a value that was just made. */
  set(key: string, packed: Buffer, ttlMs: number): void;
  delete(key: string): Promise<void>;
  /** Drops all. */
  purge(): Promise<void>;
  /** Drops what is kept under keys with this beginning; it is not found meanwhile. */
  purgeBeginning(prefix: string): Promise<void>;
  /**
   * Of tiers that other processes share: how long this process keeps a value that the tier brings to another one, its home, in milliseconds.
   * Such a value goes into memory, into tiers that are shared and into those behind, not into those that its home has in front. Undefined where this process is the home, or the tier does not take it there.
   */
  shadowMs?(key: string, packed: Buffer, ttlMs: number): number | undefined;
  /** Told of each use of a value, wherever it was found. */
  used?(key: string): void;
  /** Values that are kept for less are never in this tier, so that it is not asked for them; 0 unless given. */
  readonly leastTtlMs?: number;
  /** Told that a value that was not found will not be set either: somebody may wait for it. */
  giveUp?(key: string): void;
}

/** What lies in front of a tier, for one that others ask, and that gets values without being asked. Keys are those of the tier. */
export interface TierFront {
  /** The most bytes of a value. */
  readonly largest: number;
  /** Whether this process may ask for the key: it is not one of other options. */
  isOwn(key: string): boolean;
  /** What memory or a tier in front has, and is fresh. */
  find(key: string): Promise<AnswerHit | undefined>;
  /** How long what memory has is still fresh, and its size; nothing is used or loaded for it. */
  peek(key: string): { readonly leftMs: number; readonly bytes: number } | undefined;
  /**
   * Takes a value into memory, and into the tiers in front where this process is its home. One that was made before the last purge of its
   * tenant here is not taken.
   */
  put(key: string, hit: AnswerHit, isHome: boolean): boolean;
}

/** Buckets, in seconds, for the age of what a tier serves: from the allowed staleness of what is recent to the day that windows are kept. */
export const ageBuckets = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400] as const;
