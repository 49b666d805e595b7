import { ByteLru, largestEntryDivisor, type CacheObserver } from '../base/memory/byte-lru.js';
import { cacheBudget, heapLimit } from '../base/memory/pool.js';
import type { Host } from '../kernel/plugin/host.js';
import { createTieredCache, type TieredCache } from './tiers.js';

/** The options of the caches of answers; plugins that use the store have the same ones. */
export interface AnswerStoreOptions {
  readonly cacheMax: number;
  readonly cacheMaxBytes: number;
  readonly compatCacheEnabled: boolean;
  readonly compatCacheMaxPercent: number;
}

/**
 * Packed answers (core/wire/answer/packed.ts) by key: whole ones, and windows of long ones. The plugins of a process share one store, so
 * that its budget is what the options say.
 */
export class AnswerStore {
  /** The most bytes of one answer. */
  readonly largest: number;
  readonly #tiers: TieredCache<Buffer>;
  #observer: CacheObserver | undefined;
  /** Part of every key: what was asked for before a purge is not found after it. */
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
    const onError = (error: unknown): void => log.warn('cache tier failed', { error });
    this.#tiers = createTieredCache<Buffer>(memory, ({ byteLength }) => byteLength, onError);
  }

  /** Who shows what the memory tier holds. */
  observe(observer: CacheObserver): void {
    this.#observer = observer;
  }

  /** Changes with each purge: an answer that was asked for before one must not be kept after it. */
  get epoch(): number {
    return this.#epoch;
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.#tiers.get(key);
  }

  async set(key: string, packed: Buffer, ttlMs: number, epoch = this.#epoch): Promise<void> {
    if (epoch === this.#epoch && packed.byteLength <= this.largest) await this.#tiers.set(key, packed, ttlMs);
  }

  async purge(): Promise<void> {
    this.#epoch += 1;
    await this.#tiers.clear();
  }
}

/** The store of this process. */
export function answerStore(
  options: AnswerStoreOptions,
  host: Pick<Host, 'clock' | 'log' | 'shared'>,
): AnswerStore {
  return host.shared('answer store', () => new AnswerStore(options, host));
}
