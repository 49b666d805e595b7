import { Cacheable, Keyv } from 'cacheable';
import type { ByteLru } from '../base/memory/byte-lru.js';

/** A cache of several tiers: memory first, then slower ones. Times in milliseconds. */
export interface TieredCache<Value> {
  get(key: string): Promise<Value | undefined>;
  set(key: string, value: Value, ttlMs: number): Promise<void>;
  clear(): Promise<void>;
}

/** The entry of the tiers: the library's envelope around a value. */
interface Envelope<Value> {
  readonly value: Value;
  readonly expires?: number | null;
}

/**
 * Puts the byte-bounded memory store in front of slower tiers with `cacheable`, which reads through and fills the front. The library's own
 * memory store counts entries and clones values; this one counts bytes and returns the value itself. A failing tier counts as a miss and is
 * reported to `onError`.
 */
export function createTieredCache<Value extends object>(
  memory: ByteLru<Envelope<Value>>,
  bytesOf: (value: Value) => number,
  onError: (error: unknown) => void,
): TieredCache<Value> {
  const cache = new Cacheable({ primary: memoryTier(memory, bytesOf), stats: false });
  cache.on('error', onError);
  return {
    get: (key) => cache.get<Value>(key),
    set: async (key, value, ttl) => {
      await cache.set(key, value, ttl);
    },
    clear: () => cache.clear(),
  };
}

function memoryTier<Value extends object>(
  memory: ByteLru<Envelope<Value>>,
  bytesOf: (value: Value) => number,
): Keyv {
  const tier = new Keyv({
    useKeyPrefix: false,
    store: {
      opts: {},
      get: (key: string) => memory.get(key),
      set: (key: string, envelope: Envelope<Value>, ttlMs?: number) =>
        memory.set(key, envelope, bytesOf(envelope.value), ttlMs ?? 0),
      delete: (key: string) => memory.delete(key),
      clear: () => memory.clear(),
      on: () => undefined,
    },
  });
  // Otherwise the library would convert every answer to JSON text and back.
  tier.serialize = undefined;
  tier.deserialize = undefined;
  return tier;
}
