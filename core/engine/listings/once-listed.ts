import { printQuery } from '../../victoria/logsql/print.js';
import type { Upstream, BackendValue } from '../../victoria/upstream/types.js';

type Listings = Map<string, Promise<readonly BackendValue[]>>;

/** The same backend for one request, with each listing requested only once, however many parts of the request need it. */
export function onceListed(upstream: Upstream): Upstream {
  return sharing(upstream, new Map());
}

function sharing(upstream: Upstream, listings: Listings): Upstream {
  const tagged = upstream.taggedWith?.bind(upstream);
  return {
    owner: upstream.owner,
    rows: (request) => upstream.rows(request),
    list: (request) => {
      const { query, range, ...rest } = request;
      const key = JSON.stringify([rest, String(range.startNs), String(range.endNs), printQuery(query)]);
      let listing = listings.get(key);
      if (listing === undefined) listings.set(key, (listing = upstream.list(request)));
      return listing;
    },
    stats: (request) => upstream.stats(request),
    statsRange: (request) => upstream.statsRange(request),
    tail: (request) => upstream.tail(request),
    deletion: (request) => upstream.deletion(request),
    ...(upstream.hold === undefined ? {} : { hold: upstream.hold.bind(upstream) }),
    ...(upstream.until === undefined ? {} : { until: upstream.until.bind(upstream) }),
    ...(tagged === undefined ? {} : { taggedWith: (strategy) => sharing(tagged(strategy), listings) }),
  };
}
