import type { TimeRange } from '../../base/time/range.js';
import type { CallTag } from '../../base/trace.js';
import type { LogsqlFilter, LogsqlPipe, StatsPipe } from '../logsql/ast.js';
import { limit, query, united } from '../logsql/build.js';
import type {
  BackendRow,
  BackendSample,
  BackendSeries,
  BackendValue,
  Deletion,
  DeletionRequest,
  ListingRequest,
  RowsElsewhere,
  RowsReader,
  RowsRequest,
  StatsRangeRequest,
  StatsRequest,
  TailRowsRequest,
  Upstream,
} from '../upstream/types.js';
import { joinValues, samplesOf, seriesOf, valuesOf, widened } from './answers-of-rows.js';
import { evaluated } from './evaluated.js';
import {
  byRows,
  isByTime,
  isOneForOne,
  joining,
  keepTime,
  nearestPipe,
  oldestOf,
  type Direction,
} from './pipe-parts.js';
import { storePartsOf, type StorePart, type StoreSide, type Split } from './split.js';
import { onceEach, unionRows, type Stores } from './union-rows.js';

type Batches = AsyncIterable<readonly BackendRow[]>;

/**
 * Combines a hot and a cold store. A call whose range is in one of them goes there. For ranges over both, rows are concatenated by time
 * range, statistics that can be combined are, and all other calls are evaluated here over rows. Around the boundary, where a row may be in
 * both stores, both are read and each row counts once. Rows are tailed and deleted in the hot store only.
 */
export class TwoStores implements Upstream {
  readonly owner: string;
  readonly unites = false;
  readonly hold?: (range: TimeRange) => () => void;
  readonly activeDeletions?: () => Promise<readonly string[]>;
  readonly until?: (signal: AbortSignal) => Upstream;
  readonly taggedWith?: (tag: CallTag) => Upstream;
  readonly #stores: Stores;
  readonly #split: Split;
  readonly #routed: (places: readonly StoreSide[]) => void;

  /** @param routed called with the stores of each call's rows */
  constructor(
    stores: Stores,
    split: Split,
    routed: (places: readonly StoreSide[]) => void = () => undefined,
  ) {
    const { hot, cold } = stores;
    this.#stores = stores;
    this.#split = split;
    this.#routed = routed;
    this.owner = `${hot.owner} with what is cold`;
    const both = (bind: (store: Upstream) => Upstream): Upstream =>
      new TwoStores({ ...stores, hot: bind(hot), cold: bind(cold) }, split, routed);
    if (hot.hold !== undefined) this.hold = hot.hold.bind(hot);
    if (hot.activeDeletions !== undefined) this.activeDeletions = hot.activeDeletions.bind(hot);
    if (hot.until !== undefined && cold.until !== undefined)
      this.until = (signal) => both((store) => store.until?.(signal) ?? store);
    if (hot.taggedWith !== undefined)
      this.taggedWith = (tag) => both((store) => store.taggedWith?.(tag) ?? store);
  }

  rows(request: RowsRequest): Batches {
    const parts = this.#partsOf(request.range);
    const alone = this.#alone(parts);
    if (alone !== undefined) return alone.rows(request);
    return inOrder(united(request.query).map((one) => this.#rowsOver(parts, { ...request, query: one })));
  }

  rowsBy(request: RowsRequest, read: RowsReader): AsyncIterable<RowsElsewhere> | undefined {
    const parts = storePartsOf(request.range, this.#split);
    const rows = this.#alone(parts)?.rowsBy?.(request, read);
    if (rows !== undefined) this.#routed(parts.map(({ place }) => place));
    return rows;
  }

  async stats(request: StatsRequest): Promise<readonly BackendSample[]> {
    const store = this.#alone(this.#partsOf(request.range));
    return store === undefined ? samplesOf(this, request) : store.stats(request);
  }

  async statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
    const store = this.#alone(this.#partsOf(widened(request)));
    return store === undefined ? seriesOf(this, request) : store.statsRange(request);
  }

  async list(request: ListingRequest): Promise<readonly BackendValue[]> {
    const parts = this.#partsOf(request.range);
    const lists = await Promise.all(parts.map((part) => this.#listOf(part, request)));
    const [first = [], ...others] = lists;
    return others.length === 0 ? first : joinValues(lists, (a, b) => a + b);
  }

  tail(request: TailRowsRequest): Promise<Batches> {
    return this.#stores.hot.tail(request);
  }

  deletion(request: DeletionRequest): Deletion {
    return this.#stores.hot.deletion(request);
  }

  #partsOf(range: TimeRange): readonly StorePart[] {
    const parts = storePartsOf(range, this.#split);
    this.#routed(parts.map(({ place }) => place));
    return parts;
  }

  /** The store that contains all the parts; undefined if both are needed. */
  #alone(parts: readonly StorePart[]): Upstream | undefined {
    const [first, ...others] = parts;
    return first === undefined || others.length > 0 ? undefined : this.#storeOf(first);
  }

  #storeOf({ place }: StorePart): Upstream | undefined {
    return place === 'both' ? undefined : this.#stores[place];
  }

  async #listOf({ place, range }: StorePart, request: ListingRequest): Promise<readonly BackendValue[]> {
    const { hot, cold } = this.#stores;
    const asked = { ...request, range };
    if (place !== 'both') return this.#stores[place].list(asked);
    const [here, there] = await Promise.all([hot.list(asked), cold.list(asked)]);
    if (here.length === 0) return there;
    if (there.length === 0) return here;
    // The backend's own counts of names are also inexact.
    if (request.hits === 'any' || request.listing === 'field_names')
      return joinValues([here, there], Math.max);
    return valuesOf({ rows: ({ query }) => this.#both(query.filter, range, query.pipes) }, asked);
  }

  #rowsOver(parts: readonly StorePart[], { query: asked, newest }: RowsRequest): Batches {
    const { filter, pipes } = asked;
    const { leading, others } = byRows(pipes);
    const [first, ...after] = others;
    const all = (): Batches => evaluated(this.#each(parts, filter, leading), others);
    if (newest !== undefined)
      return first === undefined && keepTime(leading)
        ? this.#nearest(parts, filter, leading, 'backward', newest)
        : evaluated(all(), [limit(newest)]);
    if (first === undefined) return all();
    const oldest = oldestOf(first);
    if (oldest !== undefined && after.length === 0 && keepTime(leading))
      return this.#nearest(parts, filter, leading, 'forward', oldest);
    if (first.kind === 'limit')
      return evaluated(inOrder(parts.map((part) => this.#of(part, filter, [...leading, first]))), others);
    return first.kind === 'stats' ? (this.#joined(parts, filter, leading, first, after) ?? all()) : all();
  }

  /** Statistics combined from those of the parts; undefined if that is impossible. */
  #joined(
    parts: readonly StorePart[],
    filter: LogsqlFilter,
    leading: readonly LogsqlPipe[],
    counting: StatsPipe,
    after: readonly LogsqlPipe[],
  ): Batches | undefined {
    if (isByTime(counting)) {
      const { leading: own, others } = byRows(after);
      return evaluated(this.#each(parts, filter, [...leading, counting, ...own, ...cutOf(others)]), others);
    }
    const join = joining(counting);
    if (join === undefined) return undefined;
    // If a part has as many groups as wanted, so does the whole.
    return evaluated(this.#each(parts, filter, [...leading, counting, ...cutOf(after)]), [join, ...after]);
  }

  /** The newest or oldest rows, read from the parts at that end. */
  async *#nearest(
    parts: readonly StorePart[],
    filter: LogsqlFilter,
    pipes: readonly LogsqlPipe[],
    direction: Direction,
    count: number,
  ): AsyncGenerator<readonly BackendRow[]> {
    let missing = count;
    for (const part of direction === 'forward' ? parts : parts.toReversed()) {
      for await (const batch of this.#nearestOf(part, filter, pipes, direction, missing)) {
        missing -= batch.length;
        yield batch;
      }
      if (missing <= 0) return;
    }
  }

  #nearestOf(
    part: StorePart,
    filter: LogsqlFilter,
    pipes: readonly LogsqlPipe[],
    direction: Direction,
    count: number,
  ): Batches {
    const { hot, cold, memory } = this.#stores;
    const from = (store: Upstream, own: readonly LogsqlPipe[]): Batches =>
      store.rows(
        direction === 'forward'
          ? { query: query(filter, [...own, nearestPipe(direction, count)]), range: part.range }
          : { query: query(filter, own), range: part.range, newest: count },
      );
    const store = this.#storeOf(part);
    if (store !== undefined) return from(store, pipes);
    const nearest = nearestPipe(direction, count);
    // A row among the nearest of all rows is among the nearest of its store.
    if (isOneForOne(pipes))
      return evaluated(onceEach(from(hot, []), from(cold, []), memory), [nearest, ...pipes]);
    return evaluated(unionRows(this.#stores, filter, part.range), [...pipes, nearest]);
  }

  #each(parts: readonly StorePart[], filter: LogsqlFilter, pipes: readonly LogsqlPipe[]): Batches {
    return atOnce(parts.map((part) => this.#of(part, filter, pipes)));
  }

  #of(part: StorePart, filter: LogsqlFilter, pipes: readonly LogsqlPipe[]): Batches {
    const { range } = part;
    const store = this.#storeOf(part);
    return store === undefined
      ? this.#both(filter, range, pipes)
      : store.rows({ query: query(filter, pipes), range });
  }

  /** Reads rows that may be in either store or in both. */
  #both(filter: LogsqlFilter, range: TimeRange, pipes: readonly LogsqlPipe[]): Batches {
    return evaluated(unionRows(this.#stores, filter, range), pipes);
  }
}

/** The next pipe if it is a cut that can also be applied to the parts. */
function cutOf([next]: readonly LogsqlPipe[]): readonly LogsqlPipe[] {
  return next?.kind === 'limit' ? [next] : [];
}

/** Yields the sources in order, without starting one before it is needed. */
async function* inOrder(sources: readonly Batches[]): AsyncGenerator<readonly BackendRow[]> {
  for (const source of sources) yield* source;
}

/** Yields the sources in order, but starts all of them at once; each waits with one batch. */
async function* atOnce(sources: readonly Batches[]): AsyncGenerator<readonly BackendRow[]> {
  const readers = sources.map((source) => source[Symbol.asyncIterator]());
  const begun = readers.map((reader) => {
    const first = reader.next();
    // It is awaited in its turn, unless an earlier source fails.
    first.catch(() => undefined);
    return first;
  });
  try {
    for (const [index, reader] of readers.entries())
      for (let next = await begun[index]; next?.done === false; next = await reader.next()) yield next.value;
  } finally {
    for (const reader of readers) void reader.return?.().catch(() => undefined);
  }
}
