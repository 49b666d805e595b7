import { Cacheable, Keyv } from 'cacheable';

/** A cache of several tiers: memory first, then slower ones. Times in milliseconds. */
export interface TieredCache<Value> {
  get(key: string): Promise<Value | undefined>;
  /** The value in memory. */
  getNear(key: string): Value | undefined;
  set(key: string, value: Value, ttlMs: number): Promise<void>;
  /** Stores in memory only; false if the value is refused. */
  setNear(key: string, value: Value, ttlMs: number): boolean;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
  /** Adds a tier behind memory. Values found there are copied to memory for the rest of their TTL. */
  putBehind(tier: SlowTier<Value>): void;
}

/** A tier behind memory. */
export interface SlowTier<Value> {
  get(key: string): Promise<{ readonly value: Value; readonly ttlMs: number } | undefined>;
  set(key: string, value: Value, ttlMs: number): void;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

export interface TierObserver<Value> {
  failed(error: unknown): void;
  /** Called with the result of each lookup in the memory tier. */
  looked(value: Value | undefined): void;
}

/** The entry of the tiers: the library's envelope around a value. */
export interface Envelope<Value> {
  readonly value: Value;
  readonly expires?: number | null;
}

/** The tier in front; synchronous and bounded in bytes. */
export interface MemoryTier<Value> {
  get(key: string): Envelope<Value> | undefined;
  set(key: string, envelope: Envelope<Value>, bytes: number, ttlMs: number): boolean;
  delete(key: string): boolean;
  clear(): void;
}

/**
 * Puts the byte-bounded memory store in front of slower tiers with `cacheable`, which reads through and fills the front. The library's own
 * memory store counts entries and clones values; this one counts bytes and returns the value itself. A failing tier counts as a miss.
 */
export function createTieredCache<Value extends object>(
  memory: MemoryTier<Value>,
  bytesOf: (value: Value) => number,
  observer: TierObserver<Value>,
): TieredCache<Value> {
  const cache = new Cacheable({ primary: memoryTier(memory, bytesOf), stats: false });
  cache.on('error', (error: unknown) => observer.failed(error));
  cache.on('cache:hit', ({ store, value }: { readonly store: string; readonly value: Value }) => {
    if (store === 'primary') observer.looked(value);
  });
  cache.on('cache:miss', ({ store }: { readonly store: string }) => {
    if (store === 'primary') observer.looked(undefined);
  });
  return {
    get: (key) => cache.get<Value>(key),
    getNear: (key) => {
      const value = memory.get(key)?.value;
      observer.looked(value);
      return value;
    },
    setNear: (key, value, ttlMs) =>
      memory.set(key, { value, expires: Date.now() + ttlMs }, bytesOf(value), ttlMs),
    set: async (key, value, ttl) => {
      await cache.set(key, value, ttl);
    },
    delete: async (key) => {
      await cache.delete(key);
    },
    clear: () => cache.clear(),
    putBehind: (tier) => cache.setSecondary(slowTier(tier)),
  };
}

function memoryTier<Value extends object>(
  memory: MemoryTier<Value>,
  bytesOf: (value: Value) => number,
): Keyv {
  return asKeyv<Value>({
    get: (key) => memory.get(key),
    set: (key, envelope, ttlMs) => memory.set(key, envelope, bytesOf(envelope.value), ttlMs ?? 0),
    delete: (key) => memory.delete(key),
    clear: () => memory.clear(),
  });
}

function slowTier<Value extends object>(tier: SlowTier<Value>): Keyv {
  return asKeyv<Value>({
    get: async (key) => {
      const found = await tier.get(key);
      return found && { value: found.value, expires: Date.now() + found.ttlMs };
    },
    set: (key, { value }, ttlMs) => tier.set(key, value, ttlMs ?? 0),
    delete: async (key) => {
      await tier.delete(key);
      return true;
    },
    clear: () => tier.clear(),
  });
}

/** The interface that the library requires of a store. */
interface Store<Value> {
  get(key: string): Envelope<Value> | undefined | Promise<Envelope<Value> | undefined>;
  set(key: string, envelope: Envelope<Value>, ttlMs?: number): unknown;
  delete(key: string): boolean | Promise<boolean>;
  clear(): void | Promise<void>;
}

function asKeyv<Value>(store: Store<Value>): Keyv {
  const tier = new Keyv({ useKeyPrefix: false, store: { opts: {}, on: () => undefined, ...store } });
  // Otherwise the library would convert every answer to JSON text and back.
  tier.serialize = undefined;
  tier.deserialize = undefined;
  return tier;
}
