import { Cacheable } from 'cacheable';
import { type CacheObserver, largestEntryDivisor } from '../base/memory/byte-lru.js';
import { cacheRoom } from '../base/memory/cache-room.js';
import { cacheBudget, heapLimit } from '../base/memory/account.js';
import type { PeerCacheOptions } from '../base/options.gen.js';
import { asKeyv, type Entry, PackedMemory } from './tiers.js';
import type { Host } from '../kernel/plugin/host.js';
import { packedFormat } from '../wire/answer/packed.js';
import type { AnswerHit, AnswerTier, TierFront } from './answer-tier.js';
import { Generations, tenantOf, tenantPart } from './keys.js';

/** The options of the answer caches; all plugins that use the store have them. */
export type AnswerStoreOptions = Pick<
  PeerCacheOptions,
  'cacheMax' | 'cacheMaxBytes' | 'compatCacheEnabled' | 'compatCacheMaxPercent'
>;

/** Receives cache events of the memory tier, for metrics. */
export interface StoreObserver extends CacheObserver {
  /** @param ageMs age of a fresh hit; undefined for a miss */
  looked(ageMs: number | undefined): void;
}

/** A cached answer and the time since it expired, which is negative while it is fresh. */
export interface Kept {
  readonly packed: Buffer;
  readonly expiredMs: number;
}

/** A tier behind memory. */
interface Behind {
  readonly tier: AnswerTier;
  /** Fingerprint of the options that answers depend on; it follows the tenant in the keys of the tier. */
  readonly setup: string;
}

/**
 * A cache of packed answers (core/wire/answer/packed.ts) and of the windows that long ones consist of. All plugins of a process share one
 * store, so that the configured budget holds for all of them together.
 */
export class AnswerStore {
  /** Maximum size of one answer. */
  readonly largest: number;
  readonly #memory: PackedMemory;
  /** Memory and the tiers behind it: reads through them, and fills memory. A failing tier counts as a miss. */
  readonly #tiers: Cacheable;
  readonly #clock: Host['clock'];
  #observer: StoreObserver | undefined;
  /** The generation is part of every key in memory, so that entries from before a purge are not found after it. */
  readonly #generations: Generations;
  #keepExpiredMs = 0;
  /** Tiers behind memory, the nearest first. */
  readonly #behind: Behind[] = [];
  #isOpenBehind = false;

  /** @param onEnd registers cleanup that runs when the store is no longer used */
  constructor(
    options: AnswerStoreOptions,
    host: Pick<Host, 'clock' | 'log' | 'shared'>,
    onEnd: Host['onStop'] = () => undefined,
  ) {
    const { clock, log } = host;
    const left = options.compatCacheEnabled ? 1 - options.compatCacheMaxPercent / 100 : 1;
    const budget = cacheBudget(options.cacheMaxBytes);
    if (budget < options.cacheMaxBytes)
      log.info('the heap is too small for -cache-max-bytes, so caches use less', {
        'cache.max_bytes': budget,
        'heap.limit_bytes': heapLimit(),
      });
    const maxBytes = Math.floor(budget * left);
    this.largest = maxBytes / largestEntryDivisor;
    this.#clock = clock;
    this.#generations = new Generations(() => clock.monotonicMs());
    const memory = new PackedMemory({
      maxEntries: options.cacheMax,
      maxBytes,
      clock,
      observer: {
        resized: (entries, bytes) => this.#observer?.resized(entries, bytes),
        dropped: (reason) => this.#observer?.dropped(reason),
      },
    });
    this.#memory = memory;
    onEnd(cacheRoom(options, host).add(memory));
    this.#tiers = new Cacheable({ primary: asKeyv(memory), stats: false });
    this.#tiers.on('error', (error: unknown) => log.warn('cache tier failed', { error }));
  }

  /** Sets the receiver of the memory tier's events. */
  observe(observer: StoreObserver): void {
    this.#observer = observer;
    observer.resized(this.#memory.entries, this.#memory.bytes);
  }

  /** Keeps expired answers for this time, for `find`. */
  keepExpired(ms: number): void {
    this.#keepExpiredMs = ms;
  }

  /**
   * Adds a tier behind the existing ones. Values found in it are copied to memory only.
   * @param setup fingerprint of the options that answers depend on: a process with other options may have written the entries
   */
  addTier(tier: AnswerTier, setup: string): TierFront {
    const added = { tier, setup };
    this.#behind.push(added);
    if (!this.#isOpenBehind) this.#openBehind();
    return this.#frontOf(added);
  }

  /** Removes a closed tier. */
  removeTier(tier: AnswerTier): void {
    const at = this.#behind.findIndex((behind) => behind.tier === tier);
    if (at !== -1) this.#behind.splice(at, 1);
  }

  #openBehind(): void {
    this.#isOpenBehind = true;
    const behind = asKeyv({
      get: async (memoryKey) => {
        const hit = await this.#hitOf(withoutGeneration(memoryKey), this.#behind);
        const keptMs = hit === undefined ? 0 : hit.leftMs + this.#keepExpiredMs;
        return hit && { value: this.#entryOf(hit), expires: Date.now() + keptMs };
      },
      set: (memoryKey, { value: { packed } }, ttlMs = 0) => {
        if (!this.#isCurrent(memoryKey)) return;
        const key = withoutGeneration(memoryKey);
        for (const { tier, setup } of this.#behind)
          tier.set(tierKey(key, setup), packed, ttlMs - this.#keepExpiredMs);
      },
      delete: (memoryKey) =>
        this.#eachTier(({ tier, setup }) => tier.delete(tierKey(withoutGeneration(memoryKey), setup))),
      clear: () => this.#eachTier(({ tier }) => tier.purge()),
    });
    this.#tiers.setSecondary(behind);
  }

  /** Changes with each purge that affects the key. An answer requested before a purge must not be stored after it. */
  generationOf(key: string): string {
    return this.#generations.of(key);
  }

  /** A fresh answer. */
  async get(key: string): Promise<Buffer | undefined> {
    const kept = await this.find(key);
    return kept === undefined || kept.expiredMs >= 0 ? undefined : kept.packed;
  }

  /**
   * An answer, fresh or expired.
   * @param mostMs upper bound of the answer's TTL, if known
   */
  async find(key: string, mostMs = Infinity): Promise<Kept | undefined> {
    const memoryKey = this.#memoryKey(key);
    const near = this.#memory.get(memoryKey)?.value;
    this.#looked(near);
    const isBehind = this.#behind.some(({ tier }) => mostMs >= (tier.leastTtlMs ?? 0));
    const entry = near ?? (isBehind ? await this.#tiers.get<Entry>(memoryKey) : undefined);
    if (entry === undefined) return undefined;
    const expiredMs = this.#expiredMs(entry);
    if (expiredMs < 0) for (const { tier, setup } of this.#behind) tier.used?.(tierKey(key, setup));
    return { packed: entry.packed, expiredMs };
  }

  /** @param generation generation of the key when the answer was requested */
  async set(key: string, packed: Buffer, ttlMs: number, generation?: string): Promise<void> {
    const isCurrent = generation === undefined || generation === this.generationOf(key);
    if (!isCurrent || packed.byteLength > this.largest || !(ttlMs > 0)) {
      this.giveUp(key);
      return;
    }
    const madeMs = this.#clock.monotonicMs();
    const shadows = this.#behind.map(({ tier, setup }) =>
      tier.shadowMs?.(tierKey(key, setup), packed, ttlMs),
    );
    const first = shadows.findIndex((ms) => ms !== undefined);
    if (first !== -1) {
      const nearMs = Math.min(ttlMs, ...shadows.filter((ms) => ms !== undefined));
      const shadow = { packed, madeMs, freshUntilMs: madeMs + nearMs };
      this.#setNear(key, shadow, nearMs);
      for (const [place, { tier, setup }] of this.#behind.entries())
        if (tier.shadowMs !== undefined || place > first) tier.set(tierKey(key, setup), packed, ttlMs);
      return;
    }
    const entry = { packed, madeMs, freshUntilMs: madeMs + ttlMs };
    await this.#tiers.set(this.#memoryKey(key), entry, ttlMs + this.#keepExpiredMs);
  }

  /** Reports that an answer that was not found will not be set either: it failed or cannot be cached. */
  giveUp(key: string): void {
    for (const { tier, setup } of this.#behind) tier.giveUp?.(tierKey(key, setup));
  }

  async delete(key: string): Promise<void> {
    await this.#tiers.delete(this.#memoryKey(key));
  }

  /** Drops all answers, or those of one tenant. */
  async purge(tenantId?: string): Promise<void> {
    this.#generations.next(tenantId);
    if (tenantId === undefined) await this.#tiers.clear();
    // Entries in memory are no longer found, and are evicted as the oldest.
    else await this.#eachTier(({ tier }) => tier.purgeBeginning(`${tenantPart(tenantId)}:`));
  }

  /** The first fresh value in these tiers, or else the value that expired last. */
  async #hitOf(key: string, tiers: readonly Behind[], forOthers = false): Promise<AnswerHit | undefined> {
    let best: AnswerHit | undefined;
    for (const { tier, setup } of tiers) {
      const found = await tier.get(tierKey(key, setup), forOthers);
      if (found === undefined || this.#isPurged(key, found)) continue;
      if (best === undefined || found.leftMs > best.leftMs) best = found;
      if (best.leftMs > 0) break;
    }
    return best;
  }

  /** True if the value is older than the last purge of its tenant: other processes may still serve values that this one has dropped. */
  #isPurged(key: string, { ageMs }: AnswerHit): boolean {
    return this.#clock.monotonicMs() - ageMs < this.#generations.purgedMs(key);
  }

  #entryOf({ packed, leftMs, ageMs }: AnswerHit): Entry {
    const nowMs = this.#clock.monotonicMs();
    return { packed, madeMs: nowMs - ageMs, freshUntilMs: nowMs + leftMs };
  }

  #frontOf(added: Behind): TierFront {
    const keyOf = (key: string): string => fromTierKey(key, added.setup);
    const inFront = (): readonly Behind[] => this.#behind.slice(0, this.#behind.indexOf(added));
    return {
      largest: this.largest,
      isOwn: (text) => keyOf(text) !== text,
      peek: (text) => {
        const kept = this.#memory.peek(this.#memoryKey(keyOf(text)));
        return kept && { leftMs: -this.#expiredMs(kept), bytes: kept.bytes };
      },
      find: async (text) => {
        const key = keyOf(text);
        const near = this.#memory.get(this.#memoryKey(key))?.value;
        if (near !== undefined && this.#expiredMs(near) < 0)
          return {
            packed: near.packed,
            leftMs: -this.#expiredMs(near),
            ageMs: this.#clock.monotonicMs() - near.madeMs,
          };
        const hit = await this.#hitOf(key, inFront(), true);
        return hit === undefined || hit.leftMs <= 0 ? undefined : hit;
      },
      put: (text, hit, isHome) => {
        const key = keyOf(text);
        if (this.#isPurged(key, hit) || hit.packed.byteLength > this.largest || !(hit.leftMs > 0))
          return false;
        const kept = this.#memory.peek(this.#memoryKey(key));
        if (kept !== undefined && -this.#expiredMs(kept) >= hit.leftMs) return true;
        if (isHome)
          for (const { tier, setup } of inFront()) tier.set(tierKey(key, setup), hit.packed, hit.leftMs);
        return this.#setNear(key, this.#entryOf(hit), hit.leftMs);
      },
    };
  }

  async #eachTier(work: (behind: Behind) => Promise<void>): Promise<void> {
    await Promise.all(this.#behind.map(work));
  }

  /** Stores in memory only; false if the entry is refused. */
  #setNear(key: string, value: Entry, freshMs: number): boolean {
    const ttlMs = freshMs + this.#keepExpiredMs;
    return this.#memory.set(this.#memoryKey(key), { value, expires: Date.now() + ttlMs }, ttlMs);
  }

  #looked(entry: Entry | undefined): void {
    const isFresh = entry !== undefined && this.#expiredMs(entry) < 0;
    this.#observer?.looked(isFresh ? this.#clock.monotonicMs() - entry.madeMs : undefined);
  }

  #expiredMs({ freshUntilMs }: Pick<Entry, 'freshUntilMs'>): number {
    return this.#clock.monotonicMs() - freshUntilMs;
  }

  #memoryKey(key: string): string {
    return `${this.generationOf(key)} ${key}`;
  }

  #isCurrent(memoryKey: string): boolean {
    return memoryKey === this.#memoryKey(withoutGeneration(memoryKey));
  }
}

/** The key in tiers that outlive the process or are shared with others: it begins with the tenant. */
function tierKey(key: string, setup: string): string {
  return `${beginningOf(key, setup)}${key}`;
}

/** The key of a tier's key. A key of a process with another setup is returned as it is: it may be stored for processes with that setup. */
function fromTierKey(text: string, setup: string): string {
  const beginning = beginningOf(text, setup);
  const key = text.slice(beginning.length);
  return text.startsWith(beginning) && tenantOf(key) === tenantOf(text) ? key : text;
}

function beginningOf(key: string, setup: string): string {
  return `${tenantOf(key)}:${packedFormat}:${setup}:`;
}

function withoutGeneration(memoryKey: string): string {
  return memoryKey.slice(memoryKey.indexOf(' ') + 1);
}

/** The answer store of this process for one setup and one set of options. */
export function answerStore(
  options: AnswerStoreOptions,
  host: Pick<Host, 'clock' | 'log' | 'shared' | 'setup'>,
): AnswerStore {
  const { cacheMax, cacheMaxBytes, compatCacheEnabled, compatCacheMaxPercent } = options;
  const parts = [host.setup, cacheMax, cacheMaxBytes, compatCacheEnabled, compatCacheMaxPercent];
  const name = JSON.stringify(['answer store', ...parts]);
  return host.shared(name, (onEnd) => new AnswerStore(options, host, onEnd));
}
