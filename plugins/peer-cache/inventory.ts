import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { TimeRange } from '../../core/base/time/range.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import type { AnswerStore, Kept } from '../../core/cache/answer-store.js';
import type { CacheKeys } from '../../core/cache/keys.js';
import type { Answer, Exchange, Host, Rest } from '../../core/plugin/index.js';
import { printQuery } from '../../core/victoria/logsql/print.js';
import type { BackendValue, ListingQuestion, ListingRequest } from '../../core/victoria/upstream/types.js';
import { withList } from '../../core/victoria/upstream/with-list.js';
import { packSteps, type CacheableAnswer } from '../../core/wire/answer/packed.js';
import type { NamesAnswer } from '../../core/wire/answer/types.js';
import type { SeriesRequest } from '../../core/wire/api/request.js';
import {
  bucketsOf,
  split,
  type Filled,
  everyStream,
  readingOf,
  Asked,
  Derived,
  listOver,
  type KeptListings,
  type Listed,
  type Listing,
} from './listing.js';

export const inventoryMetrics = {
  inventory_answers_total: {
    type: 'counter',
    help: 'Listings of the backend that were put together from time buckets.',
  },
  inventory_buckets_total: {
    type: 'counter',
    help: 'Time buckets of such listings: kept, or listed by the backend.',
    labels: ['source'],
  },
} as const;

type InventoryOptions = Pick<
  PeerCacheOptions,
  'metadataInventoryParallelism' | 'labelsCacheTtl' | 'recentTailRefreshMaxStaleness'
>;
type InventoryHost = Pick<Host<typeof inventoryMetrics>, 'clock' | 'meters'>;

/** What the stage does for whole answers, and its inventory for parts of them. */
export interface Keeping {
  /** Runs what equal callers share, under a key. */
  share(
    key: string,
    exchange: Exchange<'tenant'>,
    run: (exchange: Exchange<'tenant'>) => Promise<Answer>,
  ): Promise<Answer>;
  /** Undefined for what cannot be read, which is dropped. */
  unpack(key: string, kept: Kept, exchange: Exchange<'tenant'>): Promise<CacheableAnswer | undefined>;
}

/** There are too many streams to list all of them. */
class TooWide extends Error {
  override readonly name = 'TooWide';
}

/** A part of a listing says that something is missing: whoever asks for the whole tells what. */
class Incomplete extends Error {
  override readonly name = 'Incomplete';
}

/** The most streams of a bucket from which other listings are read. */
const maxStreams = 10_000;
const msNs = 1_000_000n;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A bucket is listed again after this part of its age. */
const patience = 0.1;
/** Pickers that open together ask within this time. */
const togetherMs = 500;
/** Unpacked, a listing takes about so many times its bytes. */
const unpackedFactor = 4;
/** The most questions whose joined buckets are followed up, and owners of too many streams that are remembered. */
const maxRemembered = 2_000;
/** The same in bytes: questions may hold long selectors. */
const maxRememberedBytes = 4 * 1024 * 1024;
const joinedForMs = 24 * hourMs;
const wideForMs = 10 * minuteMs;
/** Of keys that are for any time. */
const noTime: TimeRange = { startNs: 0n, endNs: 0n };

/**
 * Lists names, values and streams of the backend over long ranges from time buckets that are kept: the union of what buckets list is what
 * their whole time lists. The newest minutes are always asked. What can be read from streams is: every label, value and selection of an
 * owner shares the buckets of all its streams, unless there are too many. The buckets in which the range begins and ends are kept as well: where one
 * lists nothing that the rest does not list, the part of it that is in the range need not be asked. A bucket is listed again when it has
 * grown older by a tenth, so that a line that comes late by some time is listed a tenth of it later, after a minute at least and an hour at
 * most (docs/protocol/operation.md#cache-times, `-max-metadata-cache-freshness`).
 */
export class Inventory implements KeptListings {
  readonly #options: InventoryOptions;
  readonly #host: InventoryHost;
  readonly #store: AnswerStore;
  readonly #keys: CacheKeys;
  readonly #keeping: Keeping;
  /** By question, the key of its joined buckets: they are dropped for the next ones. */
  readonly #joined: ByteLru<string>;
  /** Owners that are taken to have too many streams. */
  readonly #wide: ByteLru<true>;
  /** Owners who have listed before. */
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

  /** The exchange of a listing, whose backend lists from buckets; other exchanges are left as they are. */
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

  /** Undefined for what is better asked as a whole. */
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
        (await over(new Asked(this, question, exchange, rest)));
      this.#host.meters.inventory_answers_total.add(1, {});
      return values.map((value) => ({ value, hits: 1 }));
    } catch (error) {
      if (error instanceof Incomplete) return undefined;
      throw error;
    }
  }

  /**
   * Whether an owner lists for the first time, and no bucket is kept, on the disk for instance. One call for the whole answers sooner than one for
   * each bucket, and whoever has asked once may not ask again.
   */
  async #isNew(filled: Filled, exchange: Exchange<'tenant'>): Promise<boolean> {
    const owner = this.#keyOf(everyStream, noTime, exchange);
    const isKnown = this.#asked.get(owner) === true;
    this.#asked.set(owner, true, owner.length, joinedForMs);
    if (isKnown) return false;
    const buckets = bucketsOf(filled);
    const middle = buckets[buckets.length >> 1] ?? filled;
    return (await this.#find(this.#keyOf(everyStream, middle, exchange), exchange)) === undefined;
  }

  /** From the buckets of all streams; undefined for what cannot be read from them, and for an owner that has too many. */
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
      const streams = new Asked(this, everyStream, exchange, rest);
      return await over(new Derived(this, question, reading, streams, exchange));
    } catch (error) {
      if (!(error instanceof TooWide)) throw error;
      this.#wide.set(owner, true, owner.length, wideForMs);
      return undefined;
    }
  }

  /** How many parts of a listing are asked at once. */
  #parallelOf({ caller }: Exchange): number {
    return caller.isBackground === true ? 1 : this.#options.metadataInventoryParallelism;
  }

  /** The key of what a question lists within some time. */
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

  async findOrAsk(
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

  async findOrJoin(
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

  patienceMs({ endNs }: TimeRange): number {
    const ageMs = this.#host.clock.nowMs() - Number(endNs / msNs);
    const most = this.#options.labelsCacheTtl === 0 ? hourMs : this.#options.labelsCacheTtl;
    return Math.min(most, Math.max(minuteMs, patience * ageMs));
  }

  get freshMs(): number {
    return Math.min(togetherMs, this.#options.recentTailRefreshMaxStaleness);
  }

  /** What fails is told to those who wait for it elsewhere. */
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

/** The request of which stored listings are parts: only its range matters. */
function requestFor(range: TimeRange): SeriesRequest {
  return { op: 'series', range, selectors: [] };
}
