import { inParallel } from '../../core/base/pace/in-parallel.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace, eachStep, type Steps } from '../../core/base/pace/steps.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { AnswerStore, Kept } from '../../core/cache/answer-store.js';
import type { CacheKeys } from '../../core/cache/keys.js';
import { holdToSize } from '../../core/engine/listings/size.js';
import type { Answer, Exchange, Host, Rest } from '../../core/plugin/index.js';
import { mergeSteps } from '../../core/wire/answer/merge/index.js';
import { packSteps, type CacheableAnswer } from '../../core/wire/answer/packed.js';
import type { NamesAnswer, SeriesAnswer } from '../../core/wire/answer/types.js';
import type { LabelsRequest, LabelValuesRequest, SeriesRequest } from '../../core/wire/api/request.js';
import { before, bucketsOf, split, type Filled } from './buckets.js';

export const inventoryMetrics = {
  inventory_answers_total: {
    type: 'counter',
    help: 'Listings of labels, values and series that were put together from time buckets.',
  },
  inventory_buckets_total: {
    type: 'counter',
    help: 'Time buckets of such listings: kept, or listed by the backend. Edges of ranges are never kept.',
    labels: ['source'],
  },
} as const;

type Listing = NamesAnswer | SeriesAnswer;
type ListingRequest = LabelsRequest | LabelValuesRequest | SeriesRequest;
type InventoryOptions = Pick<PeerCacheOptions, 'metadataInventoryParallelism' | 'labelsCacheTtl'>;
type InventoryHost = Pick<Host<typeof inventoryMetrics>, 'clock' | 'meters' | 'limits'>;

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

/** A listing of some time, and how long it may be used. */
interface Listed {
  readonly listing: Listing;
  readonly leftMs: number;
}

const msNs = 1_000_000n;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A bucket is listed again after this part of its age. */
const patience = 0.1;
/** Unpacked, a listing takes about so many times its bytes. */
const unpackedFactor = 4;
/** The most questions whose joined buckets are followed up. */
const maxQuestions = 2_000;

/**
 * Lists labels, values and series over long ranges from time buckets that are kept: the union of what buckets list is what their whole time
 * lists. The newest minutes are always asked. The bucket in which the range begins is kept as well: where it lists nothing that the rest
 * does not list, the part of it that is in the range need not be asked. A bucket is listed again when it has grown older by a tenth, so that
 * a line that comes late by some time is listed a tenth of it later, after a minute at least and an hour at most
 * (docs/protocol/operation.md#cache-times, `-max-metadata-cache-freshness`).
 */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #host: InventoryHost;
  readonly #store: AnswerStore;
  readonly #keys: CacheKeys;
  readonly keeping: Keeping;
  /** By question, the key of its joined buckets: they are dropped for the next ones. */
  readonly #joined = new Map<string, string>();

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
    this.keeping = keeping;
  }

  /**
   * Answers a listing.
   * @returns undefined when it is better asked as a whole
   * @throws ApiError `labelValuesTooLarge` as the whole would
   */
  async answer(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer | undefined> {
    const { request, slots } = exchange;
    if (
      this.#options.metadataInventoryParallelism < 1 ||
      !isListing(request) ||
      slots.tenant.hasNoData === true
    )
      return undefined;
    if (request.op !== 'series' && request.browse.limit !== undefined) return undefined;
    if (request.op === 'series' && slots.plan?.kind !== 'series') return undefined;
    const { range } = request;
    if (slots.tenant.oldestNs !== undefined && range.startNs < slots.tenant.oldestNs) return undefined;
    const inner = split(range, BigInt(this.#host.clock.nowMs()) * msNs);
    if (inner === undefined) return undefined;
    const whole = await new Gathering(this, exchange, request, rest).over(range, inner);
    if (request.op === 'label_values' && whole.kind === 'names') {
      const { labelValuesMaxResponseBytes } = this.#host.limits.of([slots.tenant.id]);
      holdToSize(whole.values, labelValuesMaxResponseBytes);
    }
    this.#host.meters.inventory_answers_total.add(1, {});
    return whole;
  }

  /** How many parts of a listing are asked at once. */
  parallelOf({ caller }: Exchange): number {
    return caller.isBackground === true ? 1 : this.#options.metadataInventoryParallelism;
  }

  /** The key of a part of a listing. It is another one than that of a request for the same time, which may be younger. */
  keyOf(exchange: Exchange<'tenant'>): string {
    const question = this.#keys(exchange);
    if (question === undefined) throw new Error('listings are always kept');
    return `${question}:bucket`;
  }

  generationOf(key: string): string {
    return this.#store.generationOf(key);
  }

  async find(key: string, exchange: Exchange<'tenant'>): Promise<Listed | undefined> {
    const kept = await this.#store.find(key);
    if (kept === undefined || kept.expiredMs >= 0) return undefined;
    exchange.memory.charge(kept.packed.byteLength * unpackedFactor, 'listings that were kept');
    const listing = await this.keeping.unpack(key, kept, exchange);
    return listing !== undefined && isListingAnswer(listing)
      ? { listing, leftMs: -kept.expiredMs }
      : undefined;
  }

  async keep(
    key: string,
    { listing, leftMs }: Listed,
    generation: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (listing.warnings.length > 0) return;
    await this.#store.set(key, await atPace(packSteps(listing), new Pacer(signal)), leftMs, generation);
  }

  /** Keeps the buckets of a question as joined, in place of those it had before. */
  async keepJoined(
    question: string,
    key: string,
    listed: Listed,
    generation: string,
    signal: AbortSignal,
  ): Promise<void> {
    const before = this.#joined.get(question);
    this.#joined.delete(question);
    if (before !== undefined && before !== key) await this.#store.delete(before);
    this.#joined.set(question, key);
    const [oldest] = this.#joined.keys();
    if (this.#joined.size > maxQuestions && oldest !== undefined) this.#joined.delete(oldest);
    await this.keep(key, listed, generation, signal);
  }

  /** For how long a bucket that is listed now is taken for complete. */
  patienceMs({ endNs }: TimeRange): number {
    const ageMs = this.#host.clock.nowMs() - Number(endNs / msNs);
    const most = this.#options.labelsCacheTtl === 0 ? hourMs : this.#options.labelsCacheTtl;
    return Math.min(most, Math.max(minuteMs, patience * ageMs));
  }

  counted(source: 'kept' | 'backend'): void {
    this.#host.meters.inventory_buckets_total.add(1, { source });
  }
}

/** One request for a listing. */
class Gathering {
  readonly #inventory: Inventory;
  readonly #exchange: Exchange<'tenant'>;
  readonly #request: ListingRequest;
  readonly #rest: Rest;

  constructor(inventory: Inventory, exchange: Exchange<'tenant'>, request: ListingRequest, rest: Rest) {
    this.#inventory = inventory;
    this.#exchange = exchange;
    this.#request = request;
    this.#rest = rest;
  }

  /** @param inner the part of the range that buckets fill */
  async over({ startNs, endNs }: TimeRange, inner: Filled): Promise<Listing> {
    const key = this.#keyOf(inner);
    const generation = this.#inventory.generationOf(key);
    const kept = await this.#inventory.find(key, this.#exchange);
    if (kept !== undefined) this.#inventory.counted('kept');
    const around = this.#exchange.slots.tenant.oldestNs === undefined ? before(inner, startNs) : undefined;
    const buckets: Listed[] = [];
    const edges: Listing[] = [];
    let aroundStart: Listing | undefined;
    const parts: ((exchange: Exchange<'tenant'>) => Promise<void>)[] = [];
    if (inner.endNs < endNs)
      parts.push(async (exchange) => {
        edges.push(await this.#ask({ startNs: inner.endNs, endNs }, exchange));
      });
    if (around !== undefined)
      parts.push(async (exchange) => {
        aroundStart = (await this.#bucket(around, exchange)).listing;
      });
    for (const bucket of kept === undefined ? bucketsOf(inner) : [])
      parts.push(async (exchange) => {
        buckets.push(await this.#bucket(bucket, exchange));
      });
    await inParallel(
      parts,
      this.#inventory.parallelOf(this.#exchange),
      (ask, signal) => ask(this.#exchange.derive({ signal })),
      this.#exchange.signal,
    );
    const middle = kept ?? (await this.#join(buckets));
    if (buckets.length > 1) {
      const question = this.#keyOf({ startNs: 0n, endNs: 0n });
      await this.#inventory.keepJoined(question, key, middle, generation, this.#exchange.signal);
    }
    const rest = await this.#union([middle.listing, ...edges]);
    const pacer = new Pacer(this.#exchange.signal);
    if (startNs === inner.startNs) return rest;
    if (aroundStart !== undefined && (await atPace(holds(rest, aroundStart), pacer))) return rest;
    const first = await this.#ask({ startNs, endNs: inner.startNs }, this.#exchange);
    return this.#union([rest, first]);
  }

  /** What a bucket lists, as it is kept or as the backend says. */
  async #bucket(bucket: TimeRange, exchange: Exchange<'tenant'>): Promise<Listed> {
    const key = this.#keyOf(bucket);
    const generation = this.#inventory.generationOf(key);
    const kept = await this.#inventory.find(key, exchange);
    if (kept !== undefined) {
      this.#inventory.counted('kept');
      return kept;
    }
    const leftMs = this.#inventory.patienceMs(bucket);
    const answer = await this.#inventory.keeping.share(`${generation} ${key}`, exchange, async (asked) => {
      const listing = await this.#ask(bucket, asked);
      await this.#inventory.keep(key, { listing, leftMs }, generation, asked.signal);
      return listing;
    });
    if (!isListingAnswer(answer)) throw new Error('a listing is answered with a listing');
    this.#inventory.counted('backend');
    return { listing: answer, leftMs };
  }

  async #join(parts: readonly Listed[]): Promise<Listed> {
    const listing = await this.#union(parts.map((part) => part.listing));
    return { listing, leftMs: Math.min(...parts.map(({ leftMs }) => leftMs)) };
  }

  async #union(listings: readonly Listing[]): Promise<Listing> {
    const whole = await atPace(
      mergeSteps(listings, { direction: 'forward' }),
      new Pacer(this.#exchange.signal),
    );
    if (!isListingAnswer(whole)) throw new Error('listings are merged to a listing');
    return whole;
  }

  #keyOf(range: TimeRange): string {
    return this.#inventory.keyOf(this.#exchange.derive({ request: this.#partOf(range) }));
  }

  #partOf({ startNs, endNs }: TimeRange): ListingRequest {
    return { ...this.#request, range: { startNs, endNs } };
  }

  async #ask(range: TimeRange, exchange: Exchange<'tenant'>): Promise<Listing> {
    const { plan } = exchange.slots;
    const slots = plan?.kind === 'series' ? { slots: { plan: { ...plan, withoutSilent: true } } } : {};
    const part = exchange.derive<'plan'>({ request: this.#partOf(range), isFinal: false, ...slots });
    const answer = await this.#rest(part);
    if (!isListingAnswer(answer)) throw new Error('a listing is answered with a listing');
    return answer;
  }
}

function isListing(request: Exchange['request']): request is ListingRequest {
  return request.op === 'labels' || request.op === 'label_values' || request.op === 'series';
}

function isListingAnswer(answer: Answer): answer is Listing {
  return answer.kind === 'names' || answer.kind === 'series';
}

/** Whether one listing has everything that another has. */
function* holds(large: Listing, small: Listing): Steps<boolean> {
  const missing = new Set(itemsOf(small));
  yield* eachStep(itemsOf(large), (item) => missing.delete(item));
  return missing.size === 0;
}

function itemsOf(listing: Listing): readonly string[] {
  return listing.kind === 'names' ? listing.values : listing.series.map(({ key }) => key);
}
