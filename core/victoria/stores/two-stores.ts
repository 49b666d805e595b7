import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, StatsPipe } from '../logsql/ast.js';
import { limit, query, sortByTime, united } from '../logsql/build.js';
import type { BackendRow, BackendValue, ListingRequest, RowsRequest, Upstream } from '../upstream/types.js';
import { joinValues, samplesOf, seriesOf, valuesOf, widened } from './answers-of-rows.js';
import { evaluated } from './evaluated.js';
import { byRows, isByTime, isOneForOne, joining, nearestAsked, type Nearest } from './pipe-parts.js';
import { storePartsOf, type StorePart, type StoreSide, type Split } from './split.js';
import { onceEach, unionRows, type Stores } from './union-rows.js';

type Batches = AsyncIterable<readonly BackendRow[]>;

/**
 * Combines a hot and a cold store. A call whose range is in one of them goes there. For ranges over both, rows are concatenated by time
 * range, statistics that can be combined are, and all other calls are evaluated here over rows. Around the boundary, where a row may be in
 * both stores, both are read and each row counts once. Rows are tailed and deleted in the hot store only.
 */
export function twoStores(
  stores: Stores,
  split: Split,
  /** Called with the stores of each call's rows. */
  routed: (places: readonly StoreSide[]) => void = () => undefined,
): Upstream {
  const { hot, cold } = stores;
  const partsOf = (range: TimeRange): readonly StorePart[] => {
    const parts = storePartsOf(range, split);
    routed(parts.map(({ place }) => place));
    return parts;
  };
  const both = (bind: (store: Upstream) => Upstream | undefined): Upstream =>
    twoStores({ ...stores, hot: bind(hot) ?? hot, cold: bind(cold) ?? cold }, split, routed);
  const upstream: Upstream = {
    owner: `${hot.owner} with what is cold`,
    unites: false,
    rows: (request) => {
      const parts = partsOf(request.range);
      const alone = aloneIn(stores, parts);
      if (alone !== undefined) return alone.rows(request);
      return inOrder(united(request.query).map((one) => rowsOver(stores, parts, { ...request, query: one })));
    },
    rowsBy: (request, read) => {
      const parts = storePartsOf(request.range, split);
      const rows = aloneIn(stores, parts)?.rowsBy?.(request, read);
      if (rows !== undefined) routed(parts.map(({ place }) => place));
      return rows;
    },
    stats: async (request) => {
      const store = aloneIn(stores, partsOf(request.range));
      return store === undefined ? samplesOf(upstream, request) : store.stats(request);
    },
    statsRange: async (request) => {
      const store = aloneIn(stores, partsOf(widened(request)));
      return store === undefined ? seriesOf(upstream, request) : store.statsRange(request);
    },
    list: async (request) => {
      const lists = await Promise.all(partsOf(request.range).map((part) => listOf(stores, part, request)));
      const [first = [], ...others] = lists;
      return others.length === 0 ? first : joinValues(lists, (a, b) => a + b);
    },
    tail: (request) => hot.tail(request),
    deletion: (request) => hot.deletion(request),
    hold: hot.hold?.bind(hot),
    activeDeletions: hot.activeDeletions?.bind(hot),
    until: hot.until && cold.until && ((signal) => both((store) => store.until?.(signal))),
    taggedWith: hot.taggedWith && ((tag) => both((store) => store.taggedWith?.(tag))),
  };
  return upstream;
}

/** The store that contains all the parts; undefined if both are needed. */
function aloneIn(stores: Stores, [first, ...others]: readonly StorePart[]): Upstream | undefined {
  return first === undefined || others.length > 0 ? undefined : storeOf(stores, first);
}

function storeOf(stores: Stores, { place }: StorePart): Upstream | undefined {
  return place === 'both' ? undefined : stores[place];
}

async function listOf(
  stores: Stores,
  part: StorePart,
  request: ListingRequest,
): Promise<readonly BackendValue[]> {
  const { range } = part;
  const asked = { ...request, range };
  const store = storeOf(stores, part);
  if (store !== undefined) return store.list(asked);
  const [here, there] = await Promise.all([stores.hot.list(asked), stores.cold.list(asked)]);
  if (here.length === 0) return there;
  if (there.length === 0) return here;
  // The backend's own counts of names are also inexact.
  if (request.hits === 'any' || request.listing === 'field_names') return joinValues([here, there], Math.max);
  return valuesOf({ rows: ({ query }) => ofBoth(stores, query.filter, range, query.pipes) }, asked);
}

function rowsOver(stores: Stores, parts: readonly StorePart[], request: RowsRequest): Batches {
  const { filter, pipes } = request.query;
  const { leading, others } = byRows(pipes);
  const [first, ...after] = others;
  const each = (own: readonly LogsqlPipe[]): Batches =>
    atOnce(parts.map((part) => ofPart(stores, part, filter, own)));
  const nearest = nearestAsked(request);
  if (nearest !== undefined)
    return nearestOf(parts, nearest, (part, missing) => nearestIn(stores, part, filter, leading, missing));
  const all = (): Batches => evaluated(each(leading), others);
  if (request.newest !== undefined) return evaluated(all(), [limit(request.newest)]);
  if (first === undefined) return all();
  if (first.kind === 'limit')
    return evaluated(inOrder(parts.map((part) => ofPart(stores, part, filter, [...leading, first]))), others);
  return first.kind === 'stats' ? (joined(each, leading, first, after) ?? all()) : all();
}

/** Statistics combined from those of the parts; undefined if that is impossible. */
function joined(
  each: (pipes: readonly LogsqlPipe[]) => Batches,
  leading: readonly LogsqlPipe[],
  counting: StatsPipe,
  after: readonly LogsqlPipe[],
): Batches | undefined {
  if (isByTime(counting)) {
    const { leading: own, others } = byRows(after);
    return evaluated(each([...leading, counting, ...own, ...cutOf(others)]), others);
  }
  const join = joining(counting);
  if (join === undefined) return undefined;
  // If a part has as many groups as wanted, so does the whole.
  return evaluated(each([...leading, counting, ...cutOf(after)]), [join, ...after]);
}

/** The newest or oldest rows, read from the parts at that end. */
async function* nearestOf(
  parts: readonly StorePart[],
  { direction, count }: Nearest,
  read: (part: StorePart, missing: Nearest) => Batches,
): AsyncGenerator<readonly BackendRow[]> {
  let missing = count;
  for (const part of direction === 'forward' ? parts : parts.toReversed()) {
    for await (const batch of read(part, { direction, count: missing })) {
      missing -= batch.length;
      yield batch;
    }
    if (missing <= 0) return;
  }
}

function nearestIn(
  stores: Stores,
  part: StorePart,
  filter: LogsqlFilter,
  pipes: readonly LogsqlPipe[],
  { direction, count }: Nearest,
): Batches {
  const { hot, cold, memory } = stores;
  const nearest = sortByTime(count, direction === 'backward');
  const from = (store: Upstream, own: readonly LogsqlPipe[]): Batches =>
    store.rows(
      direction === 'forward'
        ? { query: query(filter, [...own, nearest]), range: part.range }
        : { query: query(filter, own), range: part.range, newest: count },
    );
  const store = storeOf(stores, part);
  if (store !== undefined) return from(store, pipes);
  // A row among the nearest of all rows is among the nearest of its store.
  if (isOneForOne(pipes))
    return evaluated(onceEach(from(hot, []), from(cold, []), memory), [nearest, ...pipes]);
  return ofBoth(stores, filter, part.range, [...pipes, nearest]);
}

function ofPart(
  stores: Stores,
  part: StorePart,
  filter: LogsqlFilter,
  pipes: readonly LogsqlPipe[],
): Batches {
  const { range } = part;
  const store = storeOf(stores, part);
  return store === undefined
    ? ofBoth(stores, filter, range, pipes)
    : store.rows({ query: query(filter, pipes), range });
}

/** Reads rows that may be in either store or in both. */
function ofBoth(
  stores: Stores,
  filter: LogsqlFilter,
  range: TimeRange,
  pipes: readonly LogsqlPipe[],
): Batches {
  return evaluated(unionRows(stores, filter, range), pipes);
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
