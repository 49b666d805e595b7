import type { LogsqlQuery } from '../../../../core/victoria/logsql/ast.js';
import type { Upstream } from '../../../../core/victoria/upstream/types.js';

/** Wraps an upstream and reports each query for rows or statistics. */
export function watchedUpstream(upstream: Upstream, asked: (query: LogsqlQuery) => void): Upstream {
  const told = <Request extends { readonly query: LogsqlQuery }>(request: Request): Request => {
    asked(request.query);
    return request;
  };
  return {
    owner: upstream.owner,
    unites: upstream.unites,
    rows: (request) => upstream.rows(told(request)),
    rowsBy: (request, read) => upstream.rowsBy?.(told(request), read),
    list: (request) => upstream.list(request),
    ...(upstream.listBoth && { listBoth: upstream.listBoth.bind(upstream) }),
    stats: (request) => upstream.stats(told(request)),
    statsRange: (request) => upstream.statsRange(told(request)),
    tail: (request) => upstream.tail(request),
    deletion: (request) => upstream.deletion(request),
    until: (signal) => watchedUpstream(upstream.until?.(signal) ?? upstream, asked),
  };
}
