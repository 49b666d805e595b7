import type { Upstream } from './types.js';

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
    ...(upstream.rowsBy === undefined ? {} : { rowsBy: upstream.rowsBy.bind(upstream) }),
    ...listsOf(upstream),
    stats: (request) => upstream.stats(request),
    statsRange: (request) => upstream.statsRange(request),
    tail: (request) => upstream.tail(request),
    deletion: (request) => upstream.deletion(request),
    ...(upstream.activeDeletions === undefined
      ? {}
      : { activeDeletions: upstream.activeDeletions.bind(upstream) }),
    ...(upstream.hold === undefined ? {} : { hold: upstream.hold.bind(upstream) }),
    ...(upstream.until === undefined ? {} : { until: upstream.until.bind(upstream) }),
    ...(tagged === undefined ? {} : { taggedWith: (tag) => withList(tagged(tag), listsOf) }),
  };
}
