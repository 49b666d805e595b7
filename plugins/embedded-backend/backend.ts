import type { BackendStats } from './counters.js';
import { Counters } from './counters.js';
import { CallGate } from '../../core/victoria/upstream/gate.js';
import { Faults } from './faults.js';
import { HttpError } from './http/errors.js';
import type { Journal } from './journal.js';
import type { TenantId } from './store/stream-tags.js';
import { Store } from './store/store.js';

/** Settings of the components behind the HTTP server. */
export interface BackendSettings {
  readonly maxBytes: number;
  readonly faults: boolean;
  readonly version: string;
  readonly maxQueryDurationMs: number;
  readonly maxConcurrentQueries: number;
  readonly maxQueueMs: number;
  /** Runs before a deletion removes rows. */
  readonly beforeDeletion: () => Promise<void>;
  /** Source of time for `now`, relative ranges and rows without a time. */
  readonly nowNs: () => bigint;
}

/** A deletion in progress. */
export interface DeleteTask {
  readonly id: string;
  readonly tenant: TenantId;
  readonly filter: string;
  readonly startTime: string;
  readonly cancel: AbortController;
}

/** All state of one running backend; handlers reach it through their context. */
export class EmbeddedBackend {
  readonly settings: BackendSettings;
  readonly store: Store;
  readonly counters = new Counters();
  readonly faults: Faults;
  /** Limits concurrent queries; others wait in order. */
  readonly queries: CallGate;
  readonly tasks = new Map<string, DeleteTask>();
  readonly startedAtMs = Date.now();
  /** Set when rows are kept in a folder. */
  journal: Journal | undefined;

  constructor(settings: BackendSettings) {
    this.settings = settings;
    this.store = new Store(settings.maxBytes);
    this.queries = queryGate(settings);
    this.faults = new Faults(settings.faults);
  }

  stats(): BackendStats {
    const { counters, store } = this;
    return {
      calls: Object.fromEntries([...counters.calls].sort(([a], [b]) => (a < b ? -1 : 1))),
      rowsRead: counters.rowsRead,
      bytesSent: counters.bytesSent,
      queriesInFlight: counters.queriesInFlight,
      abortedQueries: counters.abortedQueries,
      rowsStored: store.rows,
      rowsIngested: store.rowsIngested,
      rowsDropped: counters.rowsDropped,
      streams: store.streamCount,
      bytesStored: store.bytes,
      maxBytes: store.maxBytes,
    };
  }
}

function queryGate({ maxConcurrentQueries: limit, maxQueueMs }: BackendSettings): CallGate {
  const busy = (): Error =>
    new HttpError(
      503,
      `couldn't start executing the request in ${(maxQueueMs / 1000).toFixed(3)} seconds, since ` +
        `-search.maxConcurrentRequests=${limit} concurrent requests are executed. Possible solutions: ` +
        `to reduce query load; to increase -search.maxConcurrentRequests`,
    );
  const nowMs = (): number => performance.now();
  const onChange = (): void => undefined;
  return new CallGate({
    limit,
    waitMs: maxQueueMs,
    nowMs,
    maxWaiting: Infinity,
    full: busy,
    late: busy,
    onChange,
  });
}
