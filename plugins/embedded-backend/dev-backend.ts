import type { AddressInfo } from 'node:net';

import { EmbeddedBackend } from './backend.js';
import type { BackendStats } from './counters.js';
import { createBackendServer } from './http/server.js';
import { Journal } from './journal.js';
import { handlerFor } from './routes.js';

export type { BackendStats } from './counters.js';
export type { FaultRule } from './faults.js';

/** Options of the embedded development backend; all have defaults. */
export interface DevBackendOptions {
  /** Address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Port; 0 by default, which means any free port. */
  readonly port?: number;
  /** Limit of estimated bytes for all rows, 1 GiB by default; above it, pushes get 429. */
  readonly maxBytes?: number;
  /** Folder that persists rows; without it they are only in memory. */
  readonly dataDir?: string;
  /** Enables `/-/faults`; false by default. */
  readonly faults?: boolean;
  /** Version in the response of `/select/buildinfo`; `v1.52.0` by default. */
  readonly version?: string;
  /** Timeout of a query in milliseconds, 30000 by default; the `timeout` argument can only lower it. */
  readonly maxQueryDurationMs?: number;
  /** Maximum number of concurrent queries, 16 by default; more wait up to `maxQueueMs` (10000 by default) and then get 503. */
  readonly maxConcurrentQueries?: number;
  readonly maxQueueMs?: number;
  /** Called before each deletion removes rows, for tests of slow deletions. */
  readonly beforeDeletion?: () => Promise<void>;
  /** Clock in Unix nanoseconds, for tests. */
  readonly nowNs?: () => bigint;
}

export interface DevBackend {
  /** Base URL, such as `http://127.0.0.1:43127`. */
  readonly url: string;
  /** Stops listening, ends open queries and tails, and resolves when all connections are closed. */
  readonly close: () => Promise<void>;
  readonly stats: () => BackendStats;
}

/**
 * Starts an in-process server that speaks VictoriaLogs' HTTP protocol over rows in memory, for development, demos and tests. Rejects if it
 * cannot listen on the address.
 */
export async function startDevBackend(options: DevBackendOptions = {}): Promise<DevBackend> {
  const host = options.host ?? '127.0.0.1';
  const backend = new EmbeddedBackend({
    maxBytes: options.maxBytes ?? 1024 ** 3,
    faults: options.faults ?? false,
    version: options.version ?? 'v1.52.0',
    maxQueryDurationMs: options.maxQueryDurationMs ?? 30_000,
    maxConcurrentQueries: options.maxConcurrentQueries ?? 16,
    maxQueueMs: options.maxQueueMs ?? 10_000,
    beforeDeletion: options.beforeDeletion ?? (() => Promise.resolve()),
    nowNs: options.nowNs ?? wallClockNs,
  });
  if (options.dataDir !== undefined) backend.journal = await Journal.open(options.dataDir, backend.store);
  const { server, abortAll } = createBackendServer(backend, handlerFor);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  // A server listening on TCP has an address object, never null or a pipe name.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    stats: () => backend.stats(),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        abortAll();
        server.closeAllConnections();
      });
      await backend.journal?.close();
    },
  };
}

function wallClockNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
