import { printQuery } from '../../victoria/logsql/print.js';
import type { Upstream, BackendValue } from '../../victoria/upstream/types.js';
import { withList } from '../../victoria/upstream/with-list.js';

/** The same backend for one request, with each listing requested only once, however many parts of the request need it. */
export function onceListed(upstream: Upstream): Upstream {
  const listings = new Map<string, Promise<readonly BackendValue[]>>();
  return withList(upstream, (asked) => (request) => {
    const { query, range, ...rest } = request;
    const key = JSON.stringify([rest, String(range.startNs), String(range.endNs), printQuery(query)]);
    let listing = listings.get(key);
    if (listing === undefined) listings.set(key, (listing = asked.list(request)));
    return listing;
  });
}
