import { HeapGrowth, heapGrowth } from './heap-growth.js';

/** A cache whose limit can be lowered. */
export interface Yielding {
  /** @param share of its configured bytes, above 0 and at most 1 */
  limitTo(share: number): void;
}

/**
 * Memory of the process outside its caches: the program, running queries, garbage, and pages that the allocator has not returned. Above
 * that, caches shrink.
 */
const besidesBytes = 150 * 1024 * 1024;
/** Minimum share of their configured bytes that caches keep. */
const leastShare = 1 / 8;
/**
 * Share given back per observation. Growth is slow because resident memory follows with a delay, and dropped entries have to be fetched
 * again.
 */
const growth = 0.01;
/** Fraction of the excess that is taken per observation: some of the excess is garbage, which goes by itself. */
const shrinkRate = 0.25;
/** Target for resident memory, as a fraction of the bound. The rest is headroom for short peaks of queries. */
const target = 0.8;
/** Caches grow again while resident memory is below this fraction of the bound. */
const growBelow = 0.75;

/**
 * Keeps the resident memory of the process below the configured cache size plus a fixed allowance: garbage is collected earlier, and if that
 * is not enough, caches shrink. It uses the system's figure rather than the caches' own estimates, which do not include the allocator's
 * overhead.
 */
export class CacheRoom {
  /** Maximum resident memory in bytes. */
  readonly bound: number;
  readonly #cacheBytes: number;
  readonly #beside: ReadonlySet<() => number>;
  readonly #heap: HeapGrowth;
  readonly #caches = new Set<Yielding>();
  #share = 1;

  /**
   * @param cacheBytes configured size of all caches together
   * @param beside sizes in bytes of data outside the caches, each under a bound of its own
   */
  constructor(cacheBytes: number, beside: ReadonlySet<() => number> = new Set(), heap = new HeapGrowth()) {
    this.#beside = beside;
    this.#heap = heap;
    this.#cacheBytes = Math.max(1, cacheBytes);
    this.bound = cacheBytes + besidesBytes;
  }

  /** The share of their configured bytes that caches may fill now. */
  get share(): number {
    return this.#share;
  }

  /** Registers a cache. The returned function removes it. */
  add(cache: Yielding): () => void {
    this.#caches.add(cache);
    cache.limitTo(this.#share);
    return () => this.#caches.delete(cache);
  }

  /** Adapts the heap and the share to the resident memory of the process. */
  observe(residentBytes: number): void {
    let bytes = residentBytes;
    for (const held of this.#beside) bytes -= held();
    const over = bytes - target * this.bound;
    if (over > 0) {
      // Collecting garbage is cheaper than fetching dropped entries again.
      if (!this.#heap.lower() || bytes > this.bound)
        this.#limitTo(this.#share - Math.max(growth, (shrinkRate * over) / this.#cacheBytes));
    } else if (bytes < growBelow * this.bound && !this.#limitTo(this.#share + growth)) this.#heap.raise();
  }

  /** @returns false if nothing changed */
  #limitTo(wanted: number): boolean {
    const share = Math.min(1, Math.max(leastShare, wanted));
    if (share === this.#share) return false;
    this.#share = share;
    for (const cache of this.#caches) cache.limitTo(share);
    return true;
  }
}

/** Values that the plugins of a process share by name. */
interface Sharing {
  shared<Value>(name: string, make: () => Value): Value;
}

/** The instance of this process. */
export function cacheRoom({ cacheMaxBytes }: { readonly cacheMaxBytes: number }, host: Sharing): CacheRoom {
  return host.shared(
    `cache room of ${cacheMaxBytes}`,
    () => new CacheRoom(cacheMaxBytes, besideCaches(host), heapGrowth),
  );
}

/** Sizes of data outside the caches that have a bound of their own; the caches do not shrink for them. */
export function besideCaches(host: Sharing): Set<() => number> {
  return host.shared('beside caches', () => new Set());
}
