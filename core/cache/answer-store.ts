import { ByteLru, largestEntryDivisor, type CacheObserver } from '../base/memory/byte-lru.js';
import { cacheBudget, heapLimit } from '../base/memory/pool.js';
import type { Host } from '../kernel/plugin/host.js';
import { packedFormat } from '../wire/answer/packed.js';
import type { DiskTier } from './disk-tier.js';
import { createTieredCache, type TieredCache } from './tiers.js';

/** The options of the caches of answers; plugins that use the store have the same ones. */
export interface AnswerStoreOptions {
  readonly cacheMax: number;
  readonly cacheMaxBytes: number;
  readonly compatCacheEnabled: boolean;
  readonly compatCacheMaxPercent: number;
}

/** Notified of what happens in memory, for metrics. */
export interface StoreObserver extends CacheObserver {
  looked(isHit: boolean): void;
}

/**
 * Packed answers (core/wire/answer/packed.ts) by key: whole ones, and windows of long ones. The plugins of a process share one store, so
 * that its budget is what the options say.
 */
export class AnswerStore {
  /** The most bytes of one answer. */
  readonly largest: number;
  readonly #tiers: TieredCache<Buffer>;
  #observer: StoreObserver | undefined;
  /** Part of every key in memory: what was asked for before a purge is not found after it. */
  #epoch = 0;

  constructor(options: AnswerStoreOptions, { clock, log }: Pick<Host, 'clock' | 'log'>) {
    const left = options.compatCacheEnabled ? 1 - options.compatCacheMaxPercent / 100 : 1;
    const budget = cacheBudget(options.cacheMaxBytes);
    if (budget < options.cacheMaxBytes)
      log.info('the heap is too small for -cache-max-bytes, caches are held to less', {
        'cache.max_bytes': budget,
        'heap.limit_bytes': heapLimit(),
      });
    const maxBytes = Math.floor(budget * left);
    this.largest = maxBytes / largestEntryDivisor;
    const memory = new ByteLru<{ readonly value: Buffer }>({
      maxEntries: options.cacheMax,
      maxBytes,
      clock,
      observer: {
        resized: (entries, bytes) => this.#observer?.resized(entries, bytes),
        dropped: (reason) => this.#observer?.dropped(reason),
      },
    });
    this.#tiers = createTieredCache<Buffer>(memory, ({ byteLength }) => byteLength, {
      failed: (error) => log.warn('cache tier failed', { error }),
      looked: (value) => this.#observer?.looked(value !== undefined),
    });
  }

  /** Who shows what the memory tier holds. */
  observe(observer: StoreObserver): void {
    this.#observer = observer;
  }

  /**
   * Puts a disk behind memory.
   * @param setup what answers depend on beside their keys: they may have been written by a process with another one
   */
  useDisk(disk: DiskTier, setup: string): void {
    this.#tiers.putBehind({
      get: async (key) => {
        const found = await disk.get(this.#diskKey(key, setup));
        return found && { value: found.packed, ttlMs: found.leftMs };
      },
      set: (key, packed, ttlMs) => {
        if (this.#isCurrent(key)) disk.set(this.#diskKey(key, setup), packed, ttlMs);
      },
      delete: (key) => disk.delete(this.#diskKey(key, setup)),
      clear: () => disk.purge(),
    });
  }

  /** Changes with each purge: an answer that was asked for before one must not be kept after it. */
  get epoch(): number {
    return this.#epoch;
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.#tiers.get(this.#memoryKey(key));
  }

  async set(key: string, packed: Buffer, ttlMs: number, epoch = this.#epoch): Promise<void> {
    if (epoch === this.#epoch && packed.byteLength <= this.largest)
      await this.#tiers.set(this.#memoryKey(key), packed, ttlMs);
  }

  delete(key: string): Promise<void> {
    return this.#tiers.delete(this.#memoryKey(key));
  }

  async purge(): Promise<void> {
    this.#epoch += 1;
    await this.#tiers.clear();
  }

  #memoryKey(key: string): string {
    return `${this.#epoch} ${key}`;
  }

  #isCurrent(memoryKey: string): boolean {
    return memoryKey.startsWith(`${this.#epoch} `);
  }

  #diskKey(memoryKey: string, setup: string): string {
    return `${packedFormat}:${setup}:${memoryKey.slice(memoryKey.indexOf(' ') + 1)}`;
  }
}

/** The store of this process. */
export function answerStore(
  options: AnswerStoreOptions,
  host: Pick<Host, 'clock' | 'log' | 'shared'>,
): AnswerStore {
  return host.shared('answer store', () => new AnswerStore(options, host));
}
