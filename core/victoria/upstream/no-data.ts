import type { Tenant } from '../../base/caller.js';
import { dataOwner } from '../../base/key-parts.js';
import { apiError } from '../../base/errors/table.js';
import { quoteGo } from '../../base/time/index.js';
import { doneOrAborted } from '../../base/time/pause.js';
import type { BackendRow, BackendSample, BackendSeries, BackendValue, Deletion, Upstream } from './types.js';

/** The upstream of a tenant without data: it returns empty answers without calling the backend. */
export class EmptyUpstream implements Upstream {
  readonly owner: string;
  readonly #tenant: Tenant;
  readonly #signal: AbortSignal;

  constructor(tenant: Tenant, signal: AbortSignal) {
    this.owner = dataOwner(tenant);
    this.#tenant = tenant;
    this.#signal = signal;
  }

  rows(): AsyncIterable<readonly BackendRow[]> {
    return noRows();
  }

  list(): Promise<readonly BackendValue[]> {
    return Promise.resolve([]);
  }

  stats(): Promise<readonly BackendSample[]> {
    return Promise.resolve([]);
  }

  statsRange(): Promise<readonly BackendSeries[]> {
    return Promise.resolve([]);
  }

  /** Yields nothing until the exchange ends. */
  tail(): Promise<AsyncIterable<readonly BackendRow[]>> {
    return Promise.resolve(noRowsUntil(this.#signal));
  }

  /** @throws ApiError `unknownTenant`: a deletion must not be reported as done for data that does not exist */
  deletion(): Deletion {
    throw apiError('unknownTenant', { tenant: quoteGo(this.#tenant.id).slice(1, -1) });
  }
}

async function* noRows(): AsyncGenerator<readonly BackendRow[]> {
  // An empty generator must not be optimised into a plain iterable.
  await Promise.resolve();
  yield* [];
}

async function* noRowsUntil(signal: AbortSignal): AsyncGenerator<readonly BackendRow[]> {
  await doneOrAborted(() => () => undefined, signal);
  yield* [];
}
