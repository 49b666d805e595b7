import {
  ByteLru,
  largestEntryDivisor,
  type ByteLruOptions,
  type CacheObserver,
} from '../base/memory/byte-lru.js';
import { type Yielding, cacheRoom } from '../base/memory/cache-room.js';
import { cacheBudget, heapLimit } from '../base/memory/pool.js';
import { Slabs, type KeptBytes } from '../base/memory/slabs.js';
import type { Host } from '../kernel/plugin/host.js';
import { packedFormat } from '../wire/answer/packed.js';
import type { AnswerHit, AnswerTier, TierFront } from './answer-tier.js';
import { Generations } from './generations.js';
import { tenantOf, tenantPart } from './keys.js';
import { createTieredCache, type Envelope, type MemoryTier, type TieredCache } from './tiers.js';

/** The options of the caches of answers; plugins that use the store have the same ones. */
export interface AnswerStoreOptions {
  readonly cacheMax: number;
  readonly cacheMaxBytes: number;
  readonly compatCacheEnabled: boolean;
  readonly compatCacheMaxPercent: number;
}

/** Notified of what happens in memory, for metrics. */
export interface StoreObserver extends CacheObserver {
  /** @param ageMs of the answer that was found fresh; undefined for none */
  looked(ageMs: number | undefined): void;
}

/** An answer that is kept, and how long ago it has expired; below 0 while it is fresh. */
export interface Kept {
  readonly packed: Buffer;
  readonly expiredMs: number;
}

/** Times of the clock that never runs backwards. */
interface Entry {
  readonly packed: Buffer;
  readonly madeMs: number;
  readonly freshUntilMs: number;
}

/** An entry as it lies in memory: one small object, since many answers are smaller than what keeps them. */
interface Stored {
  readonly expires: number | null | undefined;
  readonly madeMs: number;
  readonly freshUntilMs: number;
  readonly packed: KeptBytes;
}

/** Bytes that an entry takes beside its answer, its key and what ByteLru counts (test/core/base/memory/kept-answers). */
const storedBytes = 240;

/** A tier behind memory. */
interface Behind {
  readonly tier: AnswerTier;
  /** What its keys begin with, after the tenant. */
  readonly setup: string;
}

/** The memory tier: its bytes lie in blocks, so that what leaves it is given back to the system. */
class PackedMemory implements MemoryTier<Entry>, Yielding {
  readonly #slabs = new Slabs();
  readonly #lru: ByteLru<Stored>;

  constructor(options: Omit<ByteLruOptions<Stored>, 'left'>) {
    this.#lru = new ByteLru<Stored>({ ...options, left: ({ packed }) => packed.drop() });
  }

  /** The times and the size of an entry, which is not used for it. */
  peek(key: string): { readonly freshUntilMs: number; readonly bytes: number } | undefined {
    const stored = this.#lru.peek(key);
    return stored && { freshUntilMs: stored.freshUntilMs, bytes: stored.packed.byteLength };
  }

  get(key: string): Envelope<Entry> | undefined {
    const stored = this.#lru.get(key);
    if (stored === undefined) return undefined;
    const { expires, madeMs, freshUntilMs, packed } = stored;
    const value = { madeMs, freshUntilMs, packed: packed.read() };
    return expires === undefined ? { value } : { value, expires };
  }

  set(key: string, { value, expires }: Envelope<Entry>, bytes: number, ttlMs: number): boolean {
    const { packed, madeMs, freshUntilMs } = value;
    const stored = { expires, madeMs, freshUntilMs, packed: this.#slabs.keep(packed) };
    const isKept = this.#lru.set(key, stored, bytes + storedBytes, ttlMs);
    if (!isKept) stored.packed.drop();
    return isKept;
  }

  delete(key: string): boolean {
    return this.#lru.delete(key);
  }

  clear(): void {
    this.#slabs.clear();
    this.#lru.clear();
  }

  limitTo(share: number): void {
    this.#lru.limitTo(share);
  }

  get entries(): number {
    return this.#lru.entries;
  }

  get bytes(): number {
    return this.#lru.bytes;
  }
}

/**
 * Packed answers (core/wire/answer/packed.ts) by key: whole ones, and windows of long ones. The plugins of a process share one store, so
 * that its budget is what the options say.
 */
export class AnswerStore {
  /** The most bytes of one answer. */
  readonly largest: number;
  readonly #memory: PackedMemory;
  readonly #tiers: TieredCache<Entry>;
  readonly #clock: Host['clock'];
  #observer: StoreObserver | undefined;
  /** Part of every key in memory: what was asked for before a purge is not found after it. */
  readonly #generations: Generations;
  #keepExpiredMs = 0;
  /** The nearest first. */
  readonly #behind: Behind[] = [];
  #isOpenBehind = false;

  /** @param onEnd takes work for when nobody uses it any more */
  constructor(
    options: AnswerStoreOptions,
    host: Pick<Host, 'clock' | 'log' | 'shared'>,
    onEnd: Host['onStop'] = () => undefined,
  ) {
    const { clock, log } = host;
    const left = options.compatCacheEnabled ? 1 - options.compatCacheMaxPercent / 100 : 1;
    const budget = cacheBudget(options.cacheMaxBytes);
    if (budget < options.cacheMaxBytes)
      log.info('the heap is too small for -cache-max-bytes, caches are held to less', {
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
    this.#tiers = createTieredCache<Entry>(memory, ({ packed }) => packed.byteLength, {
      failed: (error) => log.warn('cache tier failed', { error }),
      looked: (entry) => this.#observer?.looked(this.#freshAgeMs(entry)),
    });
  }

  /** Who shows what the memory tier holds. */
  observe(observer: StoreObserver): void {
    this.#observer = observer;
    observer.resized(this.#memory.entries, this.#memory.bytes);
  }

  /** Keeps answers for so long after they have expired, for `find`. */
  keepExpired(ms: number): void {
    this.#keepExpiredMs = ms;
  }

  /**
   * Puts a tier behind those that there are. What is found in it goes into memory only.
   * @param setup what answers depend on beside their keys: they may have been written by a process with another one
   */
  addTier(tier: AnswerTier, setup: string): TierFront {
    const added = { tier, setup };
    this.#behind.push(added);
    if (!this.#isOpenBehind) this.#openBehind();
    return this.#frontOf(added);
  }

  /** Takes out a tier that is closed. */
  removeTier(tier: AnswerTier): void {
    const at = this.#behind.findIndex((behind) => behind.tier === tier);
    if (at !== -1) this.#behind.splice(at, 1);
  }

  #openBehind(): void {
    this.#isOpenBehind = true;
    this.#tiers.putBehind({
      get: async (memoryKey) => {
        const hit = await this.#hitOf(withoutGeneration(memoryKey), this.#behind);
        return hit && { value: this.#entryOf(hit), ttlMs: hit.leftMs + this.#keepExpiredMs };
      },
      set: (memoryKey, { packed }, ttlMs) => {
        if (!this.#isCurrent(memoryKey)) return;
        const key = withoutGeneration(memoryKey);
        for (const { tier, setup } of this.#behind)
          tier.set(tierKey(key, setup), packed, ttlMs - this.#keepExpiredMs);
      },
      delete: (memoryKey) =>
        this.#eachTier(({ tier, setup }) => tier.delete(tierKey(withoutGeneration(memoryKey), setup))),
      clear: () => this.#eachTier(({ tier }) => tier.purge()),
    });
  }

  /** Changes with each purge that is about the key: an answer that was asked for before one must not be kept after it. */
  generationOf(key: string): string {
    return this.#generations.of(key);
  }

  /** An answer that is fresh. */
  async get(key: string): Promise<Buffer | undefined> {
    const kept = await this.find(key);
    return kept === undefined || kept.expiredMs >= 0 ? undefined : kept.packed;
  }

  /**
   * An answer, fresh or expired.
   * @param mostMs for how long it may have been kept at most, where that is known
   */
  async find(key: string, mostMs = Infinity): Promise<Kept | undefined> {
    const memoryKey = this.#memoryKey(key);
    const isBehind = this.#behind.some(({ tier }) => mostMs >= (tier.leastTtlMs ?? 0));
    const entry = isBehind ? await this.#tiers.get(memoryKey) : this.#tiers.getNear(memoryKey);
    if (entry === undefined) return undefined;
    const expiredMs = this.#expiredMs(entry);
    if (expiredMs < 0) for (const { tier, setup } of this.#behind) tier.used?.(tierKey(key, setup));
    return { packed: entry.packed, expiredMs };
  }

  /** @param generation that of the key when the answer was asked for */
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
      this.#tiers.setNear(this.#memoryKey(key), shadow, nearMs + this.#keepExpiredMs);
      for (const [place, { tier, setup }] of this.#behind.entries())
        if (tier.shadowMs !== undefined || place > first) tier.set(tierKey(key, setup), packed, ttlMs);
      return;
    }
    const entry = { packed, madeMs, freshUntilMs: madeMs + ttlMs };
    await this.#tiers.set(this.#memoryKey(key), entry, ttlMs + this.#keepExpiredMs);
  }

  /** Tells that what was not found will not be set: it failed, or cannot be kept. */
  giveUp(key: string): void {
    for (const { tier, setup } of this.#behind) tier.giveUp?.(tierKey(key, setup));
  }

  delete(key: string): Promise<void> {
    return this.#tiers.delete(this.#memoryKey(key));
  }

  /** Drops all answers, or those of one tenant. */
  async purge(tenantId?: string): Promise<void> {
    this.#generations.next(tenantId);
    if (tenantId === undefined) await this.#tiers.clear();
    // Those in memory are never found again, and leave as the oldest.
    else await this.#eachTier(({ tier }) => tier.purgeBeginning(`${tenantPart(tenantId)}:`));
  }

  /** What is still fresh in the nearest of these tiers, or else what has expired least long ago. */
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

  /** Made before the last purge that it belongs to: others may hand out what this process has dropped. */
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
        return this.#tiers.setNear(
          this.#memoryKey(key),
          this.#entryOf(hit),
          hit.leftMs + this.#keepExpiredMs,
        );
      },
    };
  }

  async #eachTier(work: (behind: Behind) => Promise<void>): Promise<void> {
    await Promise.all(this.#behind.map(work));
  }

  #freshAgeMs(entry: Entry | undefined): number | undefined {
    if (entry === undefined || this.#expiredMs(entry) >= 0) return undefined;
    return this.#clock.monotonicMs() - entry.madeMs;
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

/** A key as tiers have it that outlive the process, or are shared with others: it begins with the tenant. */
function tierKey(key: string, setup: string): string {
  return `${beginningOf(key, setup)}${key}`;
}

/** The key of a tier's key. One of a process with another setup stands for itself: it is kept for others that have that one too. */
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

/** The store of this process for answers of one setup, under one set of options. */
export function answerStore(
  options: AnswerStoreOptions,
  host: Pick<Host, 'clock' | 'log' | 'shared' | 'setup'>,
): AnswerStore {
  const { cacheMax, cacheMaxBytes, compatCacheEnabled, compatCacheMaxPercent } = options;
  const name = JSON.stringify([
    'answer store',
    host.setup,
    cacheMax,
    cacheMaxBytes,
    compatCacheEnabled,
    compatCacheMaxPercent,
  ]);
  return host.shared(name, (onEnd) => new AnswerStore(options, host, onEnd));
}
