/** A value of a tier with the rest of its TTL, which is negative once it has expired. */
export interface AnswerHit {
  readonly packed: Buffer;
  readonly leftMs: number;
  /** Milliseconds since the value was made. */
  readonly ageMs: number;
}

/**
 * A tier of packed answers behind memory: the local disk, peers, or a shared store. It bounds its own size and timeouts, never throws on
 * failures of the medium, and verifies that the bytes it returns were written under that key. Keys begin with the tenant.
 */
export interface AnswerTier {
  /** @param forOthers true for a request of another process: neither `set` nor `giveUp` will follow here */
  get(key: string, forOthers?: boolean): Promise<AnswerHit | undefined>;
  /** Stores a value that was just made. */
  set(key: string, packed: Buffer, ttlMs: number): void;
  delete(key: string): Promise<void>;
  /** Drops all values. */
  purge(): Promise<void>;
  /** Drops all values whose keys begin with the prefix; from the call on they are no longer found. */
  purgeBeginning(prefix: string): Promise<void>;
  /**
   * For tiers that processes share: the time in milliseconds for which this process caches a copy of a value that the tier sends to its
   * owner, another process. The copy goes into memory, into shared tiers and into those behind, but not into tiers that the owner has in
   * front. Undefined if this process is the owner, or if the tier does not send the value.
   */
  shadowMs?(key: string, packed: Buffer, ttlMs: number): number | undefined;
  /** Called on each use of a value, whichever tier it was found in. */
  used?(key: string): void;
  /** Minimum TTL of values in this tier: it is not queried for others; 0 unless given. */
  readonly leastTtlMs?: number;
  /** Called when a value that was not found will not be set either, because others may be waiting for it. */
  giveUp?(key: string): void;
}

/**
 * The tiers in front of a tier, as that tier sees them. Used by a tier that serves other processes, and that receives values unasked. Keys
 * are those of the tier.
 */
export interface TierFront {
  /** Maximum size of a value. */
  readonly largest: number;
  /** True for keys of this process's options; false for keys of processes with other options. */
  isOwn(key: string): boolean;
  /** A fresh value from memory or a tier in front. */
  find(key: string): Promise<AnswerHit | undefined>;
  /** The remaining TTL and the size of a value in memory. It is not loaded, and this does not count as a use. */
  peek(key: string): { readonly leftMs: number; readonly bytes: number } | undefined;
  /**
   * Stores a value in memory and, if this process is its owner, in the tiers in front. Returns false for a value that is older than the
   * last purge of its tenant here.
   */
  put(key: string, hit: AnswerHit, isHome: boolean): boolean;
}

/**
 * Histogram buckets, in seconds, for the age of served values: from the allowed staleness of recent data to the day that windows are
 * cached.
 */
export const ageBuckets = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400] as const;
