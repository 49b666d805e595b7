/** Stage `peer-cache`: caches packed answers in memory and lets identical concurrent calls share one. */
import { withoutPlace } from '../../core/base/admission/place.js';
import { weighAnswer } from '../../core/wire/answer/merge/index.js';
import { isCacheable, packSteps, unpackSteps } from '../../core/wire/answer/packed.js';
import { ByteLru, largestEntryDivisor } from '../../core/base/memory/byte-lru.js';
import { detachExchange } from '../../core/cache/detach.js';
import { Flights } from '../../core/cache/flights.js';
import { createCacheKeys, type CacheKeys } from '../../core/cache/keys.js';
import { createTieredCache, type TieredCache } from '../../core/cache/tiers.js';
import { ttlMs } from '../../core/cache/ttl.js';
import type { TtlRules } from '../../core/operations/descriptor.js';
import { cacheBudget, heapLimit } from '../../core/base/memory/pool.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import {
  defineStage,
  type Answer,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';

const metrics = {
  memory_cache_hits_total: { type: 'counter', help: 'Answers taken from the memory cache.' },
  memory_cache_misses_total: { type: 'counter', help: 'Answers that were not in the memory cache.' },
  memory_cache_drops_total: {
    type: 'counter',
    help: 'Answers dropped from memory or not taken.',
    labels: ['reason'],
  },
  memory_cache_entries: { type: 'gauge', help: 'Answers in the memory cache.' },
  memory_cache_bytes: { type: 'gauge', help: 'Bytes of answers in the memory cache.' },
  coalesced_total: { type: 'counter', help: 'Calls that joined an identical one in flight.' },
  coalesced_saved_total: {
    type: 'counter',
    help: 'Backend work saved: joined calls that got the shared answer.',
  },
} as const;

export default defineStage<PeerCacheOptions, 'tenant', never, typeof metrics>({
  name: 'peer-cache',
  summary: 'Keeps answers near by and shares identical calls in flight.',
  needs: ['tenant'],
  gives: [],
  rest: 'maybe',
  optional: true,
  metrics,
  create: (options, host) => new PeerCache(options, host),
});

/** The most callers that share one call; further ones share another. The in-flight limit of guard is far below. */
const maxWaiters = 1_000;

class PeerCache implements Stage<'tenant', never> {
  readonly #rules: TtlRules;
  readonly #host: Host<typeof metrics>;
  readonly #keys: CacheKeys;
  readonly #cache: Memory | undefined;
  readonly #flights: Flights<Answer> | undefined;
  /** Incremented by each purge: an answer requested before a purge is neither cached nor shared after it. */
  #epoch = 0;

  constructor(options: PeerCacheOptions, host: Host<typeof metrics>) {
    this.#rules = { ...options, queryTtl: options.cacheTtl };
    this.#host = host;
    this.#keys = createCacheKeys(options);
    this.#cache = options.cacheDisabled ? undefined : createMemory(options, host);
    this.#flights = options.coalescerDisabled ? undefined : new Flights(maxWaiters);
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const question = this.#keys(exchange);
    if (question === undefined) return rest(exchange);
    const key = `${this.#epoch}:${question}`;
    const stored = await this.#cache?.packed.get(key);
    if (stored !== undefined) {
      exchange.trace.cache('hit');
      this.#host.meters.memory_cache_hits_total.add(1, {});
      return atPace(unpackSteps(stored), new Pacer(exchange.signal));
    }
    if (this.#cache !== undefined) {
      exchange.trace.cache('miss');
      this.#host.meters.memory_cache_misses_total.add(1, {});
    }
    return this.#flights === undefined
      ? this.#fetch(key, exchange, rest)
      : this.#share(this.#flights, key, exchange, rest);
  }

  async purge(): Promise<void> {
    this.#epoch += 1;
    await this.#cache?.packed.clear();
  }

  async #share(
    flights: Flights<Answer>,
    key: string,
    exchange: Exchange<'tenant'>,
    rest: Rest,
  ): Promise<Answer> {
    const { result, isShared } = flights.join(key, exchange.signal, async (signal) => {
      // The first caller may leave before the others have their answer.
      exchange.memory.retain();
      try {
        return await this.#fetch(key, detachExchange(exchange, signal), rest);
      } finally {
        exchange.memory.close();
      }
    });
    if (!isShared) return result;
    this.#host.meters.coalesced_total.add(1, {});
    // A caller that waits for shared work does none itself.
    const answer = await withoutPlace(exchange.slots.place, () => result);
    this.#host.meters.coalesced_saved_total.add(1, {});
    return answer;
  }

  async #fetch(key: string, exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const epoch = this.#epoch;
    const answer = await rest(exchange);
    const ttl = ttlMs(exchange.request, answer, this.#host.clock.nowMs(), this.#rules);
    if (ttl <= 0 || this.#cache === undefined || !isCacheable(answer)) return answer;
    const pacer = new Pacer(exchange.signal);
    // An answer too large for the cache is not packed.
    if ((await weighAnswer(answer, pacer)) > this.#cache.largest) {
      this.#host.meters.memory_cache_drops_total.add(1, { reason: 'refused' });
      return answer;
    }
    const packed = await atPace(packSteps(answer), pacer);
    if (epoch === this.#epoch) await this.#cache.packed.set(key, packed, ttl);
    return answer;
  }
}

interface Memory {
  readonly packed: TieredCache<Buffer>;
  /** The most bytes of one answer. */
  readonly largest: number;
}

/** The memory tier: the cache budget minus tier0's share for finished answers. */
function createMemory(options: PeerCacheOptions, host: Host<typeof metrics>): Memory {
  const { meters, clock, log } = host;
  const left = options.compatCacheEnabled ? 1 - options.compatCacheMaxPercent / 100 : 1;
  const resized = (entries: number, bytes: number): void => {
    meters.memory_cache_entries.set(entries, {});
    meters.memory_cache_bytes.set(bytes, {});
  };
  const dropped = (reason: string): void => meters.memory_cache_drops_total.add(1, { reason });
  const budget = cacheBudget(options.cacheMaxBytes);
  if (budget < options.cacheMaxBytes)
    log.info('the heap is too small for -cache-max-bytes, caches are held to less', {
      'cache.max_bytes': budget,
      'heap.limit_bytes': heapLimit(),
    });
  const maxBytes = Math.floor(budget * left);
  const memory = new ByteLru<{ readonly value: Buffer }>({
    maxEntries: options.cacheMax,
    maxBytes,
    clock,
    observer: { resized, dropped },
  });
  const onError = (error: unknown): void => log.warn('cache tier failed', { error });
  const packed = createTieredCache<Buffer>(memory, ({ byteLength }) => byteLength, onError);
  return { packed, largest: maxBytes / largestEntryDivisor };
}
