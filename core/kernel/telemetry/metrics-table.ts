import { memoryMetrics } from '../../base/memory/account.js';
import type { MetricSpecs } from '../../base/meters.js';

const where = ['system', 'direction', 'endpoint', 'route'] as const;
const countBuckets = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 100] as const;
const lengthBuckets = [16, 64, 256, 1024, 4096, 16384, 65536] as const;

/** Metrics of HTTP requests (docs/protocol/operation.md#metrics). Plugins declare theirs in their manifests. */
export const requestMetrics = {
  requests_total: {
    type: 'counter',
    help: 'Client requests (downstream) and calls to the backend (upstream).',
    labels: ['system', 'direction', 'endpoint', 'route', 'status'],
  },
  request_duration_seconds: {
    type: 'histogram',
    help: 'Duration from the request to the end of the response.',
    labels: where,
  },
  backend_duration_seconds: { type: 'histogram', help: 'Duration of calls to the backend.', labels: where },
  upstream_calls_per_request: {
    type: 'histogram',
    help: 'Number of backend calls per request.',
    labels: where,
    buckets: countBuckets,
  },
  cache_hits_total: {
    type: 'counter',
    help: 'Cache hits: requests that a cache answered, at least in part.',
  },
  cache_misses_total: {
    type: 'counter',
    help: 'Cache misses: requests that looked in a cache and found nothing.',
  },
  cache_hits_by_endpoint: {
    type: 'counter',
    help: 'Cache hits by endpoint.',
    labels: where,
  },
  cache_misses_by_endpoint: {
    type: 'counter',
    help: 'Cache misses by endpoint.',
    labels: where,
  },
  translations_total: { type: 'counter', help: 'Queries translated for the backend.' },
  translation_errors_total: { type: 'counter', help: 'Queries that could not be translated.' },
  internal_operation_total: {
    type: 'counter',
    help: 'Internal operations by outcome.',
    labels: ['operation', 'outcome'],
  },
  internal_operation_duration_seconds: {
    type: 'histogram',
    help: 'Duration of internal operations.',
    labels: ['operation', 'outcome'],
  },
  plugin_defects_total: {
    type: 'counter',
    help: 'Requests that failed because of a bug in a plugin, by its id in the pipeline file.',
    labels: ['kind', 'plugin'],
  },
  response_tuple_mode_total: {
    type: 'counter',
    help: 'Query answers by the format of their entries.',
    labels: ['mode'],
  },
  uptime_seconds: {
    type: 'gauge',
    help: 'Uptime: time since the process started to serve.',
    ofWorkers: 'max',
  },
  active_requests: { type: 'gauge', help: 'Requests in flight.' },
  tenant_requests_total: {
    type: 'counter',
    help: 'Requests by tenant (-metrics.export-sensitive-labels).',
    labels: ['system', 'direction', 'tenant', 'endpoint', 'route', 'status'],
  },
  tenant_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of requests by tenant.',
    labels: ['system', 'direction', 'tenant', 'endpoint', 'route'],
  },
  client_requests_total: {
    type: 'counter',
    help: 'Requests by client (-metrics.export-sensitive-labels).',
    labels: ['system', 'direction', 'client', 'endpoint', 'route'],
  },
  client_response_bytes_total: { type: 'counter', help: 'Bytes sent by client.', labels: ['client'] },
  client_status_total: {
    type: 'counter',
    help: 'Responses by client and status.',
    labels: ['system', 'direction', 'client', 'endpoint', 'route', 'status'],
  },
  client_inflight_requests: { type: 'gauge', help: 'Requests in flight by client.', labels: ['client'] },
  client_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of requests by client.',
    labels: ['system', 'direction', 'client', 'endpoint', 'route'],
  },
  client_query_length_chars: {
    type: 'histogram',
    help: 'Length of query texts by client.',
    labels: ['system', 'direction', 'client', 'endpoint', 'route'],
    buckets: lengthBuckets,
  },
  client_errors_total: {
    type: 'counter',
    help: 'Failed requests by reason.',
    labels: ['system', 'direction', 'endpoint', 'route', 'reason'],
  },
} as const satisfies MetricSpecs;

/** Metrics of the served pipeline and of reloads. */
export const reloadMetrics = {
  reloads_total: {
    type: 'counter',
    help: 'Reloads of the pipeline file by outcome: swapped for another pipeline, unchanged, or refused.',
    labels: ['result'],
  },
  reload_last_successful: {
    type: 'gauge',
    help: 'Whether the last reload of the pipeline file succeeded: 0 after a refused reload.',
    ofWorkers: 'min',
  },
  reload_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'Unix time of the last successful load of the pipeline file.',
    ofWorkers: 'min',
  },
  reload_draining: {
    type: 'gauge',
    help: 'Previous pipelines that still have requests or tails after a reload.',
  },
  pipeline_info: {
    type: 'gauge',
    help: 'Processes that serve the pipeline with this hash; replicas with the same pipeline have the same hash.',
    labels: ['hash'],
  },
} as const satisfies MetricSpecs;

/** Metrics of the processes that serve together (`-workers`), measured by the first process. */
export const workerMetrics = {
  workers: { type: 'gauge', help: 'Number of serving workers.' },
  worker_restarts_total: {
    type: 'counter',
    help: 'Workers that exited unexpectedly and were replaced.',
  },
  worker_unanswered_total: {
    type: 'counter',
    help: 'Requests to all workers that a worker did not answer in time, by topic.',
    labels: ['topic'],
  },
} as const satisfies MetricSpecs;

export const logMetrics = {
  log_records_lost_total: {
    type: 'counter',
    help: 'Lost log records, by reason: write_failed (the log refused them, such as a full disk or a closed pipe), buffer_full (the log did not keep up).',
    labels: ['reason'],
  },
} as const satisfies MetricSpecs;

/** Metrics of the connections of all listeners (docs/protocol/operation.md#metrics). */
export const connectionMetrics = {
  http_connections: { type: 'gauge', help: 'Open client connections by state.', labels: ['state'] },
  http_connection_transitions_total: {
    type: 'counter',
    help: 'State changes of client connections.',
    labels: ['state'],
  },
  http_connection_rotations_total: {
    type: 'counter',
    help: 'Connections that the proxy asked the client to close, by reason.',
    labels: ['reason'],
  },
  http_connections_cut_total: {
    type: 'counter',
    help: 'Connections that the proxy closed, by reason: pipelined (more requests after a refused one), unread (the client did not read the response in time), certificate (no client certificate of a trusted CA), descriptors (limit of file descriptors reached), defect (internal error; see the log).',
    labels: ['reason'],
  },
} as const;

/** Metrics of system calls that fail for lack of resources (docs/reliability.md). */
export const shortageMetrics = {
  system_errors_total: {
    type: 'counter',
    help: 'Failed system calls in the background, by error code: EMFILE means that the process has no free file descriptor.',
    labels: ['code'],
  },
} as const satisfies MetricSpecs;

export const fastLaneMetrics = {
  fast_lane_requests_total: {
    type: 'counter',
    help: 'Requests answered directly from the response cache (tier0), because a byte-identical request was answered before.',
  },
  fast_lane_entries: { type: 'gauge', help: 'Requests in the index of byte-identical requests.' },
  fast_lane_bytes: { type: 'gauge', help: 'Size of the index of byte-identical requests in bytes.' },
} as const;

/** Metrics of pushing metrics (`-otlp-endpoint`). */
export const otlpMetrics = {
  otlp_pushes_total: {
    type: 'counter',
    help: 'Pushes of all metrics by outcome: ok, partial when the receiver refused some of the points, failed.',
    labels: ['outcome'],
  },
  otlp_push_retries_total: { type: 'counter', help: 'Retries of metric pushes.' },
} as const satisfies MetricSpecs;

export const traceMetrics = {
  trace_spans_total: {
    type: 'counter',
    help: 'Trace spans by outcome: pushed, failed with their push, dropped because 4,096 were waiting.',
    labels: ['outcome'],
  },
} as const satisfies MetricSpecs;

/** The metrics of every serving process. */
export const coreMetrics: MetricSpecs = {
  ...requestMetrics,
  ...connectionMetrics,
  ...shortageMetrics,
  ...fastLaneMetrics,
  ...logMetrics,
  ...otlpMetrics,
  ...traceMetrics,
  ...memoryMetrics,
  ...reloadMetrics,
};

/** All metrics of this program that are not declared by plugins, except those of the process. */
export const builtInMetrics: MetricSpecs = { ...coreMetrics, ...workerMetrics };
