/** A cache that can make do with less. */
export interface Yielding {
  /** @param share of the bytes that it was given, above 0 and at most 1 */
  limitTo(share: number): void;
}

/**
 * What the process may take beside its caches: the program, running queries, and what the collector and the allocator have not given back.
 * When it takes more, caches make room for it.
 */
const besidesBytes = 150 * 1024 * 1024;
/** Caches are never held to less. */
const leastShare = 1 / 8;
/** Given back with each look: memory follows slowly, and what has been dropped has to be made again. */
const growth = 0.01;
/** Of what is too much, so much is taken with each look: some of it is garbage, which goes by itself. */
const haste = 0.25;
/** Resident memory is held to this part of the bound: the rest is for what a query takes for a moment. */
const aim = 0.8;
/** Room is given back below this part of the bound. */
const calm = 0.75;

/**
 * Holds the resident memory of the process to the size of its caches and some more, by what the system says instead of what the caches
 * estimate: as much as they hold is only known to the allocator.
 */
export class CacheRoom {
  /** The most bytes of resident memory. */
  readonly bound: number;
  readonly #cacheBytes: number;
  readonly #beside: ReadonlySet<() => number>;
  readonly #caches = new Set<Yielding>();
  #share = 1;

  /**
   * @param cacheBytes of all caches together
   * @param beside what is held outside of them under a bound of its own, in bytes
   */
  constructor(cacheBytes: number, beside: ReadonlySet<() => number> = new Set()) {
    this.#beside = beside;
    this.#cacheBytes = Math.max(1, cacheBytes);
    this.bound = cacheBytes + besidesBytes;
  }

  /** The part of their bytes that caches may fill now. */
  get share(): number {
    return this.#share;
  }

  /** Returns what takes the cache out again. */
  add(cache: Yielding): () => void {
    this.#caches.add(cache);
    cache.limitTo(this.#share);
    return () => this.#caches.delete(cache);
  }

  /** Takes a look at the memory of the process. */
  observe(residentBytes: number): void {
    let bytes = residentBytes;
    for (const held of this.#beside) bytes -= held();
    const over = bytes - aim * this.bound;
    let share = this.#share;
    if (over > 0) share -= Math.max(growth, (haste * over) / this.#cacheBytes);
    else if (bytes < calm * this.bound) share += growth;
    share = Math.min(1, Math.max(leastShare, share));
    if (share === this.#share) return;
    this.#share = share;
    for (const cache of this.#caches) cache.limitTo(share);
  }
}

/** Values that the plugins of a process share by name. */
interface Sharing {
  shared<Value>(name: string, make: () => Value): Value;
}

/** Where the caches of this process make room for what else it needs. */
export function cacheRoom({ cacheMaxBytes }: { readonly cacheMaxBytes: number }, host: Sharing): CacheRoom {
  return host.shared(
    `cache room of ${cacheMaxBytes}`,
    () => new CacheRoom(cacheMaxBytes, besideCaches(host)),
  );
}

/** Bytes held outside of the caches under a bound of their own; the caches make no room for them. */
export function besideCaches(host: Sharing): Set<() => number> {
  return host.shared('beside caches', () => new Set());
}
