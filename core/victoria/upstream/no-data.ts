import type { Tenant } from '../../base/caller.js';
import { dataOwner } from '../../base/key-parts.js';
import { apiError } from '../../base/errors/table.js';
import { quoteGo } from '../../base/label-set.js';
import { doneOrAborted } from '../../base/time/waits.js';
import type { BackendRow, Upstream } from './types.js';

/**
 * The upstream of a tenant without data: it returns empty answers without calling the backend. A tail yields nothing until the exchange
 * ends. A deletion is an ApiError `unknownTenant`: it must not be reported as done for data that does not exist.
 */
export function emptyUpstream(tenant: Tenant, signal: AbortSignal): Upstream {
  const none = (): Promise<readonly never[]> => Promise.resolve([]);
  return {
    owner: dataOwner(tenant),
    rows: () => noRowsAfter(Promise.resolve()),
    list: none,
    stats: none,
    statsRange: none,
    tail: () => Promise.resolve(noRowsAfter(doneOrAborted(() => () => undefined, signal))),
    deletion: () => {
      throw apiError('unknownTenant', { tenant: quoteGo(tenant.id).slice(1, -1) });
    },
  };
}

async function* noRowsAfter(end: Promise<void>): AsyncGenerator<readonly BackendRow[]> {
  await end;
  yield* [];
}
