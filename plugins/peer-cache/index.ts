/**
 * Stage `peer-cache`: caches packed answers in memory, on disk, and in other replicas or a shared store; merges identical concurrent calls.
 */
import { startInterval } from '../../core/base/time/waits.js';
import { withoutPermit } from '../../core/base/admission/fair-queue.js';
import { weighAnswer } from '../../core/wire/answer/merge/index.js';
import { type CacheableAnswer, isCacheable, packSteps, unpackSteps } from '../../core/wire/answer/packed.js';
import { ageBuckets } from '../../core/cache/answer-tier.js';
import { answerStore, type AnswerStore, type Kept } from '../../core/cache/answer-store.js';
import { besideCaches, cacheRoom } from '../../core/base/memory/cache-room.js';
import type { DiskTier } from '../../core/cache/disk-tier.js';
import {
  type CacheKeys,
  createCacheKeys,
  createFingerprint,
  type Fingerprint,
  Generations,
  runningDeletions,
  type RunningDeletions,
} from '../../core/cache/keys.js';
import { detachExchange, Flights, mostTtlMs, ttlMs } from '../../core/cache/answer-caching.js';
import type { TtlRules } from '../../core/operations/descriptor.js';
import { heapGrowth } from '../../core/base/memory/heap-growth.js';
import { residentBytes } from '../../core/base/memory/resident.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import {
  type Answer,
  defineStage,
  type Exchange,
  type Host,
  type PurgeScope,
  type Rest,
  type RouteHandler,
  type Stage,
  withHeaders,
} from '../../core/plugin/index.js';
import { diskMetrics, openDisk } from './disk.js';
import { lint } from './lint.js';
import { peerMetrics } from './peers/metrics.js';
import { Peers, workerPeers } from './peers/index.js';
import { Inventory, inventoryMetrics, type Keeping } from './inventory.js';
import { sharedMetrics } from './shared-metrics.js';
import { SharedStore } from './shared-store.js';
import { isOutage } from '../../core/victoria/upstream/failures.js';

const staleMetrics = {
  stale_answers_total: {
    type: 'counter',
    help: 'Stale answers served because the backend was unreachable or failed.',
  },
} as const;

const metrics = {
  memory_cache_hits_total: { type: 'counter', help: 'Memory cache hits.' },
  memory_cache_misses_total: { type: 'counter', help: 'Memory cache misses.' },
  memory_cache_drops_total: {
    type: 'counter',
    help: 'Memory cache entries that were dropped or refused.',
    labels: ['reason'],
  },
  memory_cache_entries: { type: 'gauge', help: 'Entries in the memory cache.' },
  memory_cache_bytes: { type: 'gauge', help: 'Size of the memory cache in bytes.' },
  memory_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of memory cache hits.',
    buckets: ageBuckets,
  },
  cache_room_ratio: {
    type: 'gauge',
    help: 'Share of -cache-max-bytes that caches may use now: less than 1 while the process needs the memory for something else.',
    ofWorkers: 'min',
  },
  heap_growth_ratio: {
    type: 'gauge',
    help: 'Limit of the heap growth between two full collections, as a fraction of the memory in use: less than 1.5 while the process needs memory, 0 if Node.js decides.',
    ofWorkers: 'min',
  },
  coalesced_total: { type: 'counter', help: 'Calls that joined an identical in-flight call.' },
  coalesced_saved_total: {
    type: 'counter',
    help: 'Backend calls saved: calls that got the answer of an identical in-flight call.',
  },
  ...diskMetrics,
  ...sharedMetrics,
  ...inventoryMetrics,
  ...staleMetrics,
  ...peerMetrics,
} as const;

export default defineStage<PeerCacheOptions, 'tenant', never, typeof metrics>({
  name: 'peer-cache',
  summary:
    'Caches backend answers in memory, on disk and across replicas, and merges identical in-flight calls.',
  needs: ['tenant'],
  gives: [],
  rest: 'many',
  optional: true,
  keepsAnswers: true,
  metrics,
  lint,
  create: (options, host) => new PeerCache(options, host),
});

/** Maximum number of callers that share one call; further ones share another. guard's in-flight limit is far lower. */
const maxWaiters = 1_000;
/** Interval for sampling the memory of the process. */
const watchMs = 1_000;

class PeerCache implements Stage<'tenant', never> {
  readonly #rules: TtlRules;
  readonly #host: Host<typeof metrics>;
  readonly #keys: CacheKeys;
  readonly #deletions: RunningDeletions;
  readonly #cache: AnswerStore | undefined;
  readonly #flights: Flights<Answer> | undefined;
  /** Calls from before a purge are not shared with callers after it. */
  readonly #generations = new Generations();
  readonly #options: PeerCacheOptions;
  readonly #stale: StaleAnswers;
  readonly #inventory: Inventory | undefined;
  readonly #peers: Peers | undefined;
  readonly #workers: ReturnType<typeof workerPeers>;
  #disk: DiskTier | undefined;
  #shared: SharedStore | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: PeerCacheOptions, host: Host<typeof metrics>) {
    this.#rules = { ...options, queryTtl: options.cacheTtl };
    this.#options = options;
    this.#host = host;
    this.#stale = new StaleAnswers(options, host);
    this.#keys = createCacheKeys(options);
    this.#deletions = runningDeletions(host);
    this.#cache = options.cacheDisabled ? undefined : observedStore(options, host);
    this.#flights = options.coalescerDisabled ? undefined : new Flights(maxWaiters);
    this.#peers = this.#cache === undefined ? undefined : Peers.of(options, host);
    this.#workers = this.#cache === undefined ? undefined : workerPeers(options, host);
    if (this.#cache !== undefined)
      this.#inventory = new Inventory(options, host, this.#cache, this.#keys, {
        share: this.#share,
        unpack: this.#unpack,
      });
  }

  async start(): Promise<void> {
    if (this.#cache === undefined) return;
    this.#watchMemory();
    // Tiers behind memory, the nearest first.
    if (this.#options.diskCachePath !== '')
      this.#disk = await openDisk(this.#options, this.#cache, this.#host);
    this.#workers?.start(this.#cache);
    await this.#peers?.start(this.#cache);
    this.#shared = await this.#openShared(this.#cache);
  }

  /** Opens the shared store as the last tier. */
  async #openShared(store: AnswerStore): Promise<SharedStore | undefined> {
    const { sharedCacheUrl: url, sharedCachePrefix: prefix, sharedCacheSecret: secret } = this.#options;
    if (url === undefined) return undefined;
    const shared = new SharedStore({ url, prefix, secret }, this.#host);
    store.addTier(shared, this.#host.setup);
    const waiting = (): number => shared.waitingBytes;
    besideCaches(this.#host).add(waiting);
    this.#host.onStop(() => {
      besideCaches(this.#host).delete(waiting);
      store.removeTier(shared);
    });
    await shared.start();
    return shared;
  }

  get routes(): ReadonlyMap<string, RouteHandler> | undefined {
    const all = [this.#peers, this.#workers].flatMap((some) => [...(some?.routes ?? [])]);
    return all.length === 0 ? undefined : new Map(all);
  }

  async stop(): Promise<void> {
    clearInterval(this.#watch);
    this.#peers?.stop();
    this.#workers?.stop();
    await this.#disk?.close();
    await this.#shared?.close();
  }

  /** A successor that failed to start may have taken over the file of the disk cache. */
  async reload(): Promise<void> {
    if (this.#cache === undefined || this.#disk?.isClosed !== true) return;
    this.#cache.removeTier(this.#disk);
    this.#disk = await openDisk(this.#options, this.#cache, this.#host);
  }

  #watchMemory(): void {
    const room = cacheRoom(this.#options, this.#host);
    const { cache_room_ratio, heap_growth_ratio } = this.#host.meters;
    const show = (): void => {
      cache_room_ratio.set(room.share, {});
      heap_growth_ratio.set((heapGrowth.percent ?? 0) / 100, {});
    };
    show();
    this.#watch = startInterval(() => {
      const bytes = residentBytes();
      if (bytes !== undefined) room.observe(bytes);
      show();
    }, watchMs).unref();
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const question = this.#keys(exchange);
    if (question === undefined || this.#deletions.touch(exchange.slots.tenant)) return rest(exchange);
    const generation = this.#cache?.generationOf(question);
    const mostMs = mostTtlMs(exchange.request, this.#host.clock.nowMs(), this.#rules);
    const kept = await this.#cache?.find(question, mostMs);
    if (kept !== undefined && kept.expiredMs < 0) {
      const answer = await this.#unpack(question, kept, exchange);
      if (answer !== undefined) {
        exchange.trace.cache('hit');
        return answer;
      }
    }
    if (this.#cache !== undefined) exchange.trace.cache('miss');
    try {
      const key = `${this.#generations.of(question)} ${question}`;
      return await this.#share(key, exchange, (asked) => this.#fetch(question, asked, rest));
    } catch (error) {
      const isPurged = generation !== this.#cache?.generationOf(question);
      if (kept === undefined || isPurged || !this.#stale.mayReplace(error, exchange)) throw error;
      const answer = await this.#unpack(question, kept, exchange);
      if (answer === undefined) throw error;
      return this.#stale.mark(answer, kept, error, exchange);
    }
  }

  /** Undefined for an answer that cannot be parsed: it may come from a disk. */
  readonly #unpack: Keeping['unpack'] = async (question, { packed }, { signal }) => {
    try {
      return await atPace(unpackSteps(packed), new Pacer(signal));
    } catch (error) {
      signal.throwIfAborted();
      this.#host.log.warn('dropped an unreadable cache entry', { error });
      await this.#cache?.delete(question);
      return undefined;
    }
  };

  async purge(_scope: PurgeScope, tenantId?: string): Promise<void> {
    this.#generations.next(tenantId);
    await this.#cache?.purge(tenantId);
  }

  /** Callers with the same key share one run. */
  readonly #share: Keeping['share'] = async (key, exchange, run) => {
    if (this.#flights === undefined) return run(exchange);
    const { result, isShared } = this.#flights.join(key, exchange.signal, async (signal) => {
      // The first caller may leave before the others have their answer.
      exchange.memory.retain();
      try {
        return await run(detachExchange(exchange, signal));
      } finally {
        exchange.memory.close();
      }
    });
    if (!isShared) return result;
    this.#host.meters.coalesced_total.add(1, {});
    // A caller that waits for shared work does no work itself.
    const answer = await withoutPermit(exchange.slots.permit, () => result);
    this.#host.meters.coalesced_saved_total.add(1, {});
    return answer;
  };

  async #fetch(key: string, exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const generation = this.#cache?.generationOf(key);
    let isSet = false;
    try {
      const answer = await rest(this.#inventory?.around(exchange, rest) ?? exchange);
      const ttl = ttlMs(exchange.request, answer, this.#host.clock.nowMs(), this.#rules);
      const packed = ttl > 0 ? await this.#packed(answer, exchange.signal) : undefined;
      if (packed === undefined) return answer;
      isSet = true;
      await this.#cache?.set(key, packed, ttl, generation);
      return answer;
    } finally {
      if (!isSet) this.#cache?.giveUp(key);
    }
  }

  /** Undefined for an answer that cannot be cached. */
  async #packed(answer: Answer, signal: AbortSignal): Promise<Buffer | undefined> {
    if (this.#cache === undefined || !isCacheable(answer)) return undefined;
    const pacer = new Pacer(signal);
    // An answer too large for the cache is not packed.
    if ((await weighAnswer(answer, pacer)) <= this.#cache.largest) return atPace(packSteps(answer), pacer);
    this.#host.meters.memory_cache_drops_total.add(1, { reason: 'refused' });
    return undefined;
  }
}

function observedStore(options: PeerCacheOptions, host: Host<typeof metrics>): AnswerStore {
  const { meters } = host;
  const store = answerStore(options, host);
  store.keepExpired(options.staleIfError);
  store.observe({
    resized: (entries, bytes) => {
      meters.memory_cache_entries.set(entries, {});
      meters.memory_cache_bytes.set(bytes, {});
    },
    dropped: (reason) => meters.memory_cache_drops_total.add(1, { reason }),
    looked: (ageMs) => {
      if (ageMs === undefined) meters.memory_cache_misses_total.add(1, {});
      else {
        meters.memory_cache_hits_total.add(1, {});
        meters.memory_cache_age_seconds.observe(ageMs / 1000, {});
      }
    },
  });
  return store;
}

const warning = 'the backend is unavailable: this answer is from the cache and may be stale';
const headers = { 'X-Proxy-Stale-Response': 'true', 'Cache-Control': 'no-store' };
/** Minimum time between two log records. */
const logEveryMs = 60_000;

/** Decides when an expired answer is better than an error. */
class StaleAnswers {
  readonly #fingerprint: Fingerprint;
  readonly #host: Host<typeof staleMetrics>;
  #logAtMs = -Infinity;

  constructor(options: PeerCacheOptions, host: Host<typeof staleMetrics>) {
    this.#fingerprint = createFingerprint(options);
    this.#host = host;
  }

  /** Tells whether an expired answer may replace this error; the store drops answers that expired too long ago. */
  mayReplace(error: unknown, { caller, signal }: Exchange<'tenant'>): boolean {
    // With forwarded credentials only the backend knows whether the caller may still see the answer.
    const isAllowed = !signal.aborted && this.#fingerprint(caller.headers) === undefined;
    return isAllowed && isOutage(error);
  }

  mark(answer: CacheableAnswer, { expiredMs }: Kept, error: unknown, exchange: Exchange<'tenant'>): Answer {
    const { clock, log, meters } = this.#host;
    meters.stale_answers_total.add(1, {});
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#logAtMs) {
      this.#logAtMs = nowMs + logEveryMs;
      log.warn('serving stale cached response after backend failure', {
        'cache.expired_ms': expiredMs,
        error,
      });
    }
    return withHeaders(exchange, { ...answer, warnings: [...answer.warnings, warning] }, headers);
  }
}
