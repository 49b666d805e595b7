import { ofKey } from '../../base/memory/byte-lru.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { printFilter, printQuery } from '../../victoria/logsql/print.js';
import type {
  BackendValue,
  ListingRequest,
  StreamsAndNames,
  Upstream,
} from '../../victoria/upstream/types.js';
import type { LeafContext } from '../metric/context.js';
import { isSame, listingBytes, listSelection, type StreamListing } from '../metric/count/stream-listing.js';

type Lists = Pick<Upstream, 'list' | 'listBoth'>;

/**
 * The same backend with other listings, including when its calls are tagged.
 * @param listsOf makes them for the backend that handles all other calls
 */
export function withList(upstream: Upstream, listsOf: (upstream: Upstream) => Lists): Upstream {
  const tagged = upstream.taggedWith?.bind(upstream);
  return {
    owner: upstream.owner,
    unites: upstream.unites,
    rows: (request) => upstream.rows(request),
    rowsBy: upstream.rowsBy?.bind(upstream),
    ...listsOf(upstream),
    stats: (request) => upstream.stats(request),
    statsRange: (request) => upstream.statsRange(request),
    tail: (request) => upstream.tail(request),
    deletion: (request) => upstream.deletion(request),
    activeDeletions: upstream.activeDeletions?.bind(upstream),
    hold: upstream.hold?.bind(upstream),
    until: upstream.until?.bind(upstream),
    taggedWith: tagged && ((tag) => withList(tagged(tag), listsOf)),
  };
}

/** The same backend for one request, with each listing requested only once, even if several parts of the request need it. */
export function onceListed(upstream: Upstream): Upstream {
  const lists = new Map<string, Promise<readonly BackendValue[]>>();
  const boths = new Map<string, Promise<StreamsAndNames>>();
  return withList(upstream, (asked) => {
    const listBoth = asked.listBoth?.bind(asked);
    return {
      list: async (request) => {
        const { listing, field, hits } = request;
        const rows = keyOf(request);
        const both = await boths.get(rows);
        if (listing === 'streams' && both !== undefined) return both.streams;
        if (listing === 'field_names' && both !== undefined) return both.names;
        const key = JSON.stringify([listing, field, hits, rows]);
        return ofKey(lists, key, () => asked.list(request));
      },
      listBoth: listBoth && ((request) => ofKey(boths, keyOf(request), () => listBoth(request))),
    };
  });
}

function keyOf({ query, range }: Pick<ListingRequest, 'query' | 'range'>): string {
  return `${range.startNs} ${range.endNs} ${printQuery(query)}`;
}

/** TTL of a selection's streams as a first guess. */
const listingMs = 3_600_000;

/** Work that needs the streams of a selection. */
interface StreamWork<Begun> {
  readonly selection: LogsqlFilter;
  readonly range: TimeRange;
  /** True when `begin` can return before the backend has answered `context.upstream`. */
  readonly isReady: (listing: StreamListing) => boolean;
  readonly begin: (context: LeafContext, listing: StreamListing) => Promise<Begun>;
}

/** Starts with the streams of the previous query, which are usually still the same, while the current ones are listed. */
export async function beginEarly<Begun>(
  { selection, range, isReady, begin }: StreamWork<Begun>,
  context: LeafContext,
): Promise<{ readonly listing: StreamListing; readonly begun: Begun }> {
  const { upstream, listings } = context;
  const key = JSON.stringify([upstream.owner, printFilter(selection)]);
  const before = listings.get(key);
  const early = before === undefined ? undefined : earlyUpstream(upstream);
  // Requested first, because the early requests depend on it and could otherwise delay it.
  const taking = listSelection(selection, range, context);
  taking.catch(() => undefined);
  try {
    const guess =
      before === undefined || early === undefined || !isReady(before)
        ? undefined
        : { begun: await begin({ ...context, upstream: early.upstream }, before) };
    const now = await taking;
    const isUnchanged = before !== undefined && isSame(before, now);
    // Everything derived from the same streams stays attached to them.
    const listing = isUnchanged ? { ...now, streams: before.streams } : now;
    listings.set(key, listing, listingBytes(listing), listingMs);
    if (guess !== undefined && isUnchanged) {
      early?.confirm();
      return { listing, begun: guess.begun };
    }
    early?.giveUp();
    return { listing, begun: await begin(context, listing) };
  } catch (error) {
    early?.giveUp();
    throw error;
  }
}

/** A backend that is called before it is certain that its answers will be used. */
interface EarlyUpstream {
  readonly upstream: Upstream;
  /** Releases the answers and lets later calls pass. */
  confirm(): void;
  /** Aborts the open calls, which then fail. */
  giveUp(): void;
}

/** Withholds all answers until `confirm`. Undefined if single calls cannot be aborted. */
export function earlyUpstream(upstream: Upstream): EarlyUpstream | undefined {
  const stop = new AbortController();
  const bound = upstream.until?.(stop.signal);
  if (bound === undefined) return undefined;
  let confirm: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => (confirm = resolve));
  const confirmed = async (): Promise<void> => {
    await settled;
    stop.signal.throwIfAborted();
  };
  return {
    upstream: withheld(bound, confirmed),
    confirm,
    giveUp: () => {
      stop.abort(new Error('cancelled: the speculative call was not needed'));
      confirm();
    },
  };
}

/** Calls start immediately; their answers are released once confirmed. */
function withheld(upstream: Upstream, confirmed: () => Promise<void>): Upstream {
  const held = async <Value>(answer: Promise<Value>): Promise<Value> => {
    const value = await answer;
    await confirmed();
    return value;
  };
  const listBoth = upstream.listBoth?.bind(upstream);
  return {
    owner: upstream.owner,
    unites: upstream.unites,
    listBoth: listBoth && ((request) => held(listBoth(request))),
    async *rows(request) {
      for await (const batch of upstream.rows(request)) {
        await confirmed();
        yield batch;
      }
      await confirmed();
    },
    list: (request) => held(upstream.list(request)),
    stats: (request) => held(upstream.stats(request)),
    statsRange: (request) => held(upstream.statsRange(request)),
    tail: (request) => held(upstream.tail(request)),
    deletion: (request) => upstream.deletion(request),
  };
}
