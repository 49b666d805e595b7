import { answerJson, answerText, type Context } from '../http/context.js';
import { HttpError } from '../http/errors.js';

/** `GET /health`. */
export function health(ctx: Context): Promise<void> {
  return answerText(ctx, 200, 'OK');
}

/** `GET /insert/loki/ready`. */
export function ready(ctx: Context): Promise<void> {
  return answerText(ctx, 200, 'ready');
}

/** `GET /ping`: 204 without a body. */
export function ping(ctx: Context): Promise<void> {
  return answerText(ctx, 204, '');
}

/** `GET /select/buildinfo`; other methods get 405 in JSON. */
export async function buildInfo(ctx: Context): Promise<void> {
  if (ctx.req.method !== 'GET') {
    // The real server does not escape these quotes either.
    const text = `{"status":"error","msg":"method "${ctx.req.method ?? ''}" isn't allowed"}`;
    return answerText(ctx, 405, text, 'application/json');
  }
  await answerJson(ctx, { status: 'success', data: { version: ctx.backend.settings.version } });
}

/** `GET /select/tenant_ids`: tenants with rows; rejected if the request names a tenant. */
export async function tenantIds(ctx: Context): Promise<void> {
  for (const name of ['AccountID', 'ProjectID']) {
    const value = ctx.req.headers[name.toLowerCase()];
    if (typeof value !== 'string' || value === '') continue;
    throw new HttpError(
      403,
      `the /select/tenant_ids endpoint cannot be requested with non-empty ${name}=${JSON.stringify(value)} header`,
    );
  }
  const tenants = ctx.backend.store.tenants();
  await answerJson(
    ctx,
    tenants.map(({ accountId, projectId }) => ({ account_id: accountId, project_id: projectId })),
  );
}

/** `GET /metrics`: the metrics of the real server that proxies or dashboards read, and a few of its own. */
export async function metrics(ctx: Context): Promise<void> {
  const { backend } = ctx;
  const stats = backend.stats();
  const { version } = backend.settings;
  const { user, system } = process.cpuUsage();
  const lines = [
    `vm_app_version{version="devbackend-${version}", short_version="${version}"} 1`,
    `vm_app_start_timestamp ${Math.floor(backend.startedAtMs / 1000)}`,
    `vm_app_uptime_seconds ${((Date.now() - backend.startedAtMs) / 1000).toFixed(3)}`,
    `vl_concurrent_select_current ${stats.queriesInFlight}`,
    `vl_concurrent_select_capacity ${backend.settings.maxConcurrentQueries}`,
    `vl_storage_rows{type="storage/inmemory"} ${stats.rowsStored}`,
    `vl_rows_ingested_total ${stats.rowsIngested}`,
    `vl_rows_dropped_total ${stats.rowsDropped}`,
    `vl_streams_created_total ${stats.streams}`,
    `vl_storage_is_read_only 0`,
    `vl_data_size_bytes{type="storage"} ${stats.bytesStored}`,
    `vl_http_errors_total ${backend.counters.errors}`,
    ...Object.entries(stats.calls).map(
      ([path, n]) => `vl_http_requests_total{path=${JSON.stringify(path)}} ${n}`,
    ),
    `devbackend_rows_read_total ${stats.rowsRead}`,
    `devbackend_bytes_sent_total ${stats.bytesSent}`,
    `devbackend_queries_aborted_total ${stats.abortedQueries}`,
    `devbackend_max_bytes ${stats.maxBytes}`,
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    `process_cpu_seconds_total ${((user + system) / 1e6).toFixed(3)}`,
    `process_start_time_seconds ${Math.floor(Date.now() / 1000 - process.uptime())}`,
  ];
  await answerText(ctx, 200, `${lines.join('\n')}\n`);
}
