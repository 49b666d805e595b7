import type { BackendStats } from './counters.js';
import { Counters } from './counters.js';
import { Limiter } from './engine/limiter.js';
import { Faults } from './faults.js';
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
  readonly limiter: Limiter;
  readonly tasks = new Map<string, DeleteTask>();
  readonly startedAtMs = Date.now();
  /** Set when rows are kept in a folder. */
  journal: Journal | undefined;

  constructor(settings: BackendSettings) {
    this.settings = settings;
    this.store = new Store(settings.maxBytes);
    this.limiter = new Limiter(settings.maxConcurrentQueries, settings.maxQueueMs);
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
