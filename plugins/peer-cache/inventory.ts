import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { TimeRange } from '../../core/base/time/range.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { AnswerStore, Kept } from '../../core/cache/answer-store.js';
import type { CacheKeys } from '../../core/cache/keys.js';
import type { Answer, Exchange, Host, Rest } from '../../core/plugin/index.js';
import { printQuery } from '../../core/victoria/logsql/print.js';
import type { BackendValue, ListingQuestion, ListingRequest } from '../../core/victoria/upstream/types.js';
import { withList } from '../../core/engine/listings/upstreams.js';
import { type CacheableAnswer, packSteps } from '../../core/wire/answer/packed.js';
import type { NamesAnswer } from '../../core/wire/answer/types.js';
import type { SeriesRequest } from '../../core/wire/api/request.js';
import {
  bucketsOf,
  everyStream,
  type Listed,
  type Listing,
  listOver,
  readListing,
  type Reading,
  readingOf,
  split,
  valuesOfAll,
} from './listing.js';

export const inventoryMetrics = {
  inventory_answers_total: {
    type: 'counter',
    help: 'Label listings merged from time buckets.',
  },
  inventory_buckets_total: {
    type: 'counter',
    help: 'Time buckets of these listings, by source: cached, or listed by the backend.',
    labels: ['source'],
  },
} as const;

type InventoryOptions = Pick<
  PeerCacheOptions,
  'metadataInventoryParallelism' | 'labelsCacheTtl' | 'recentTailRefreshMaxStaleness'
>;
type InventoryHost = Pick<Host<typeof inventoryMetrics>, 'clock' | 'meters'>;

/** Functions of the stage that its inventory uses for parts of answers. */
export interface Keeping {
  /** Merges identical concurrent runs under a key. */
  share(
    key: string,
    exchange: Exchange<'tenant'>,
    run: (exchange: Exchange<'tenant'>) => Promise<Answer>,
  ): Promise<Answer>;
  /** Undefined for an answer that cannot be parsed, which is dropped. */
  unpack(key: string, kept: Kept, exchange: Exchange<'tenant'>): Promise<CacheableAnswer | undefined>;
}

/** The owner has too many streams to list all of them. */
class TooWide extends Error {
  override readonly name = 'TooWide';
}

/** A part of a listing is incomplete: the listing as a whole must be requested to report the warning. */
class Incomplete extends Error {
  override readonly name = 'Incomplete';
}

/** Maximum number of streams in a bucket from which other listings are derived. */
const maxStreams = 10_000;
const msNs = 1_000_000n;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A bucket is refreshed after this fraction of its age. */
const refreshFraction = 0.1;
/** Pickers that open together send their requests within this time. */
const togetherMs = 500;
/** Approximate size of an unpacked listing relative to its packed size. */
const unpackedFactor = 4;
/** Maximum number of remembered queries with joined buckets, and of remembered owners with too many streams. */
const maxRemembered = 2_000;
/** The same in bytes: queries may contain long selectors. */
const maxRememberedBytes = 4 * 1024 * 1024;
const joinedForMs = 24 * hourMs;
const wideForMs = 10 * minuteMs;
/** The range in keys that do not depend on time. */
const noTime: TimeRange = { startNs: 0n, endNs: 0n };

/**
 * Lists names, values and streams of the backend over long ranges from cached time buckets: a listing is the union of those of its buckets.
 * The newest minutes are always requested.
 *
 * Label names, values and selections are derived from streams where possible: all listings of an owner share the buckets of its streams,
 * unless there are too many. The buckets that contain the start and the end of the range are cached as well. If such a bucket lists nothing
 * beyond the rest, the part of it within the range need not be requested.
 *
 * A bucket is refreshed whenever its age has grown by a tenth. So a late line is listed after a tenth of its delay, after a minute at least
 * and an hour at most (docs/protocol/operation.md#cache-times, `-max-metadata-cache-freshness`).
 */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #host: InventoryHost;
  readonly #store: AnswerStore;
  readonly #keys: CacheKeys;
  readonly #keeping: Keeping;
  /** Key of the joined buckets of each query: the next ones replace them. */
  readonly #joined: ByteLru<string>;
  /** Owners that have too many streams. */
  readonly #wide: ByteLru<true>;
  /** Owners that have requested a listing before. */
  readonly #asked: ByteLru<true>;

  constructor(
    options: InventoryOptions,
    host: InventoryHost,
    store: AnswerStore,
    keys: CacheKeys,
    keeping: Keeping,
  ) {
    this.#options = options;
    this.#host = host;
    this.#store = store;
    this.#keys = keys;
    this.#keeping = keeping;
    const bounds = { maxEntries: maxRemembered, maxBytes: maxRememberedBytes, clock: host.clock };
    this.#joined = new ByteLru(bounds);
    this.#wide = new ByteLru(bounds);
    this.#asked = new ByteLru(bounds);
  }

  /** Makes the backend of a listing's exchange list from buckets; other exchanges are unchanged. */
  around(exchange: Exchange<'tenant'>, rest: Rest): Exchange<'tenant'> {
    const { request, slots } = exchange;
    const isListing = request.op === 'labels' || request.op === 'label_values' || request.op === 'series';
    if (!isListing || this.#options.metadataInventoryParallelism < 1) return exchange;
    if (slots.tenant.hasNoData === true || slots.plan === undefined) return exchange;
    if (request.op !== 'series' && request.browse.limit !== undefined) return exchange;
    return exchange.derive<'inventory'>({
      slots: {
        inventory: (upstream) =>
          withList(upstream, (asked) => ({
            list: async (listing) => (await this.#list(listing, exchange, rest)) ?? asked.list(listing),
          })),
      },
    });
  }

  /** Undefined if the whole listing should be requested from the backend instead. */
  async #list(
    { range, hits, ...question }: ListingRequest,
    exchange: Exchange<'tenant'>,
    rest: Rest,
  ): Promise<readonly BackendValue[] | undefined> {
    const { oldestNs } = exchange.slots.tenant;
    if (hits !== 'any' || (oldestNs !== undefined && range.startNs < oldestNs)) return undefined;
    const divided = split(range, BigInt(this.#host.clock.nowMs()) * msNs);
    if (divided === undefined || (await this.#isNew(divided.filled, exchange))) return undefined;
    const over = (listing: Listing): Promise<readonly string[]> =>
      listOver(listing, range, divided, this.#parallelOf(exchange));
    try {
      const values =
        (await this.#ofStreams(question, exchange, rest, over)) ??
        (await over(this.#ofBackend(question, exchange, rest)));
      this.#host.meters.inventory_answers_total.add(1, {});
      return values.map((value) => ({ value, hits: 1 }));
    } catch (error) {
      if (error instanceof Incomplete) return undefined;
      throw error;
    }
  }

  /**
   * Tells whether this is the first listing of an owner and no bucket is cached (on disk, for example). One call for the whole is faster
   * than one per bucket, and the owner may never ask again.
   */
  async #isNew(filled: TimeRange, exchange: Exchange<'tenant'>): Promise<boolean> {
    const owner = this.#keyOf(everyStream, noTime, exchange);
    const isKnown = this.#asked.get(owner) === true;
    this.#asked.set(owner, true, owner.length, joinedForMs);
    if (isKnown) return false;
    const buckets = bucketsOf(filled);
    const middle = buckets[buckets.length >> 1] ?? filled;
    return (await this.#find(this.#keyOf(everyStream, middle, exchange), exchange)) === undefined;
  }

  /** Derives a listing from the buckets of all streams; undefined if that is impossible, or if the owner has too many streams. */
  async #ofStreams(
    question: ListingQuestion,
    exchange: Exchange<'tenant'>,
    rest: Rest,
    over: (listing: Listing) => Promise<readonly string[]>,
  ): Promise<readonly string[] | undefined> {
    const reading = readingOf(question);
    if (reading === undefined) return undefined;
    const owner = this.#keyOf(everyStream, noTime, exchange);
    if (this.#wide.get(owner) === true) return undefined;
    try {
      const streams = this.#ofBackend(everyStream, exchange, rest);
      return await over(this.#derived(question, reading, streams));
    } catch (error) {
      if (!(error instanceof TooWide)) throw error;
      this.#wide.set(owner, true, owner.length, wideForMs);
      return undefined;
    }
  }

  /** A listing that is requested from the backend. */
  #ofBackend(question: ListingQuestion, exchange: Exchange<'tenant'>, rest: Rest): Listing {
    const ask = (range: TimeRange, leftMs: number, signal: AbortSignal): Promise<Listed> =>
      this.#findOrAsk(question, range, leftMs, exchange.derive({ signal }), rest);
    const bucket: Listing['bucket'] = (range, signal) => ask(range, this.#patienceMs(range), signal);
    const freshMs = Math.min(togetherMs, this.#options.recentTailRefreshMaxStaleness);
    return {
      exchange,
      bucket,
      edge: async (range, signal) => (await ask(range, freshMs, signal)).values,
      joined: (filled, parallel, signal) =>
        this.#findOrJoin(question, filled, exchange, async () => {
          const buckets = await inParallel(bucketsOf(filled), parallel, bucket, signal);
          const lists = buckets.map(({ values }) => values);
          const leftMs = Math.min(...buckets.map((listed) => listed.leftMs));
          return { values: await valuesOfAll(lists, signal), leftMs };
        }),
    };
  }

  /** A listing that is derived from streams. */
  #derived(question: ListingQuestion, reading: Reading, streams: Listing): Listing {
    const { exchange } = streams;
    const read = async ({ values, leftMs }: Listed, signal: AbortSignal): Promise<Listed> => ({
      values: await readListing(values, reading, signal),
      leftMs,
    });
    return {
      exchange,
      bucket: async (range, signal) => read(await streams.bucket(range, signal), signal),
      edge: async (range, signal) => readListing(await streams.edge(range, signal), reading, signal),
      joined: (filled, parallel, signal) =>
        this.#findOrJoin(question, filled, exchange, async () =>
          read(await streams.joined(filled, parallel, signal), signal),
        ),
    };
  }

  /** Maximum number of concurrent calls for one listing. */
  #parallelOf({ caller }: Exchange): number {
    return caller.isBackground === true ? 1 : this.#options.metadataInventoryParallelism;
  }

  /** The cache key of a query's listing of a time range. */
  #keyOf(
    { listing, field = '', query }: ListingQuestion,
    range: TimeRange,
    exchange: Exchange<'tenant'>,
  ): string {
    const key = this.#keys(exchange.derive({ request: requestFor(range) }));
    if (key === undefined) throw new Error('listings are always kept');
    return `${key}:stored:${JSON.stringify([listing, field, printQuery(query)])}`;
  }

  async #find(key: string, exchange: Exchange<'tenant'>, mostMs?: number): Promise<Listed | undefined> {
    const kept = await this.#store.find(key, mostMs);
    if (kept === undefined || kept.expiredMs >= 0) return undefined;
    exchange.memory.charge(kept.packed.byteLength * unpackedFactor, 'listings that were kept');
    const listing = await this.#keeping.unpack(key, kept, exchange);
    return listing?.kind === 'names' ? { values: listing.values, leftMs: -kept.expiredMs } : undefined;
  }

  /** A cached listing, or else one of the backend. Identical concurrent calls are merged. */
  async #findOrAsk(
    question: ListingQuestion,
    range: TimeRange,
    leftMs: number,
    exchange: Exchange<'tenant'>,
    rest: Rest,
  ): Promise<Listed> {
    const key = this.#keyOf(question, range, exchange);
    const generation = this.#store.generationOf(key);
    const kept = await this.#find(key, exchange, leftMs);
    this.#host.meters.inventory_buckets_total.add(1, { source: kept === undefined ? 'backend' : 'kept' });
    if (kept !== undefined) return kept;
    const answer = await this.#keeping.share(`${generation} ${key}`, exchange, (asked) =>
      this.#orGiveUp(key, async () => {
        const plan = { kind: 'stored-list', listing: question } as const;
        const listed = await rest(
          asked.derive<'plan' | 'inventory'>({
            request: requestFor(range),
            isFinal: false,
            slots: { plan, inventory: (upstream) => upstream },
          }),
        );
        if (listed.kind !== 'names') throw new Error('a stored listing is answered with names');
        if (listed.warnings.length > 0) throw new Incomplete();
        if (question === everyStream && listed.values.length > maxStreams) throw new TooWide();
        await this.#keep(key, listed, leftMs, generation, asked.signal);
        return listed;
      }),
    );
    return { values: answer.kind === 'names' ? answer.values : [], leftMs };
  }

  /**
   * The cached union of a query's buckets over a range, or else the result of `join`. It replaces the query's previous union in the cache.
   */
  async #findOrJoin(
    question: ListingQuestion,
    range: TimeRange,
    exchange: Exchange<'tenant'>,
    join: () => Promise<Listed>,
  ): Promise<Listed> {
    const key = this.#keyOf(question, range, exchange);
    const generation = this.#store.generationOf(key);
    const kept = await this.#find(key, exchange);
    if (kept !== undefined) {
      this.#host.meters.inventory_buckets_total.add(1, { source: 'kept' });
      return kept;
    }
    const { values, leftMs } = await this.#orGiveUp(key, join);
    const name = this.#keyOf(question, noTime, exchange);
    const before = this.#joined.get(name);
    if (before !== undefined && before !== key) await this.#store.delete(before);
    this.#joined.set(name, key, key.length, joinedForMs);
    await this.#keep(key, { kind: 'names', values, warnings: [] }, leftMs, generation, exchange.signal);
    return { values, leftMs };
  }

  /** TTL of a bucket that is listed now. */
  #patienceMs({ endNs }: TimeRange): number {
    const ageMs = this.#host.clock.nowMs() - Number(endNs / msNs);
    const most = this.#options.labelsCacheTtl === 0 ? hourMs : this.#options.labelsCacheTtl;
    return Math.min(most, Math.max(minuteMs, refreshFraction * ageMs));
  }

  /** Reports a failure to the store, because other processes may be waiting for the value. */
  async #orGiveUp<Made>(key: string, make: () => Promise<Made>): Promise<Made> {
    try {
      return await make();
    } catch (error) {
      this.#store.giveUp(key);
      throw error;
    }
  }

  async #keep(
    key: string,
    listing: NamesAnswer,
    leftMs: number,
    generation: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#store.set(key, await atPace(packSteps(listing), new Pacer(signal)), leftMs, generation);
  }
}

/** The request that parts of listings are cached for: only its range matters. */
function requestFor(range: TimeRange): SeriesRequest {
  return { op: 'series', range, selectors: [] };
}
