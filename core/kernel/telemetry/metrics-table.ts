import { memoryMetrics } from '../../base/memory/pool.js';
import type { MetricSpecs } from '../../base/meters.js';

const where = ['system', 'direction', 'endpoint', 'route'] as const;
const countBuckets = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 100] as const;
const lengthBuckets = [16, 64, 256, 1024, 4096, 16384, 65536] as const;

/** Metrics of HTTP requests (docs/protocol/operation.md#metrics). Plugins declare theirs in their manifests. */
export const requestMetrics = {
  requests_total: {
    type: 'counter',
    help: 'Requests of clients (downstream) and calls to the backend (upstream).',
    labels: ['system', 'direction', 'endpoint', 'route', 'status'],
  },
  request_duration_seconds: {
    type: 'histogram',
    help: 'Time from request to the end of the response.',
    labels: where,
  },
  backend_duration_seconds: { type: 'histogram', help: 'Time of calls to the backend.', labels: where },
  upstream_calls_per_request: {
    type: 'histogram',
    help: 'Backend calls that one request took.',
    labels: where,
    buckets: countBuckets,
  },
  cache_hits_total: { type: 'counter', help: 'Requests that a cache answered, at least in part.' },
  cache_misses_total: { type: 'counter', help: 'Requests that asked a cache in vain.' },
  cache_hits_by_endpoint: {
    type: 'counter',
    help: 'Requests that a cache answered, by endpoint.',
    labels: where,
  },
  cache_misses_by_endpoint: {
    type: 'counter',
    help: 'Requests that asked a cache in vain, by endpoint.',
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
    help: 'Time of internal operations.',
    labels: ['operation', 'outcome'],
  },
  plugin_defects_total: {
    type: 'counter',
    help: 'Requests that failed because of a defect in a plugin, by its id in the pipeline file.',
    labels: ['kind', 'plugin'],
  },
  response_tuple_mode_total: {
    type: 'counter',
    help: 'Query answers by shape of their entries.',
    labels: ['mode'],
  },
  uptime_seconds: {
    type: 'gauge',
    help: 'Time since the process started to serve.',
    ofWorkers: 'max',
  },
  active_requests: { type: 'gauge', help: 'Requests being answered.' },
  tenant_requests_total: {
    type: 'counter',
    help: 'Requests by tenant (-metrics.export-sensitive-labels).',
    labels: ['system', 'direction', 'tenant', 'endpoint', 'route', 'status'],
  },
  tenant_request_duration_seconds: {
    type: 'histogram',
    help: 'Time of requests by tenant.',
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
  client_inflight_requests: { type: 'gauge', help: 'Requests being answered by client.', labels: ['client'] },
  client_request_duration_seconds: {
    type: 'histogram',
    help: 'Time of requests by client.',
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
    help: 'Times that the pipeline file was read again: swapped for another pipeline, unchanged, or refused.',
    labels: ['result'],
  },
  reload_last_successful: {
    type: 'gauge',
    help: 'Whether what the pipeline file said last is served: 0 since a reload was refused.',
    ofWorkers: 'min',
  },
  reload_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When the pipeline file was last read and could be served, in Unix seconds.',
    ofWorkers: 'min',
  },
  reload_draining: {
    type: 'gauge',
    help: 'Pipelines from before a reload that still have requests or tails.',
  },
  pipeline_info: {
    type: 'gauge',
    help: 'Processes that serve the pipeline of this hash; replicas with the same pipeline have the same.',
    labels: ['hash'],
  },
} as const satisfies MetricSpecs;

/** Metrics of the processes that serve together (`-workers`), measured by the first process. */
export const workerMetrics = {
  workers: { type: 'gauge', help: 'Workers that serve.' },
  worker_restarts_total: {
    type: 'counter',
    help: 'Workers that ended while they should serve, and were replaced.',
  },
  worker_unanswered_total: {
    type: 'counter',
    help: 'Questions to all workers that one of them did not answer in time, by what was asked.',
    labels: ['topic'],
  },
} as const satisfies MetricSpecs;

export const logMetrics = {
  log_records_lost_total: {
    type: 'counter',
    help: 'Log records that did not reach the log: write_failed when it refused them (a full disk, a closed pipe), buffer_full when it did not keep up.',
    labels: ['reason'],
  },
} as const satisfies MetricSpecs;

/** Metrics of the connections of all listeners (docs/protocol/operation.md#metrics). */
export const connectionMetrics = {
  http_connections: { type: 'gauge', help: 'Open client connections by state.', labels: ['state'] },
  http_connection_transitions_total: {
    type: 'counter',
    help: 'Changes of state of client connections.',
    labels: ['state'],
  },
  http_connection_rotations_total: {
    type: 'counter',
    help: 'Connections that a client was asked to close, by reason.',
    labels: ['reason'],
  },
  http_connections_cut_total: {
    type: 'counter',
    help: 'Connections that were cut: pipelined (requests went on behind one that was refused), unread (its client did not read the answer in time), certificate (a client certificate of no trusted authority), descriptors (as many are open as the limit of file descriptors allows), defect (serving it failed; see the log).',
    labels: ['reason'],
  },
} as const;

/** Metrics of system calls that fail for lack of resources (docs/reliability.md). */
export const shortageMetrics = {
  system_errors_total: {
    type: 'counter',
    help: 'Calls of the system that failed where nothing waited for them, by code: EMFILE when the process has no file descriptor left.',
    labels: ['code'],
  },
} as const satisfies MetricSpecs;

export const fastLaneMetrics = {
  fast_lane_requests_total: {
    type: 'counter',
    help: 'Requests answered by their bytes alone, because the same bytes had been answered before.',
  },
  fast_lane_entries: { type: 'gauge', help: 'Requests whose meaning is remembered.' },
  fast_lane_bytes: { type: 'gauge', help: 'Bytes of the requests whose meaning is remembered.' },
} as const;

/** Metrics of pushing metrics (`-otlp-endpoint`). */
export const otlpMetrics = {
  otlp_pushes_total: {
    type: 'counter',
    help: 'Pushes of all metrics by outcome: ok, partial when the receiver refused some of the points, failed.',
    labels: ['outcome'],
  },
  otlp_push_retries_total: { type: 'counter', help: 'Requests of a push that were sent again.' },
} as const satisfies MetricSpecs;

export const traceMetrics = {
  trace_spans_total: {
    type: 'counter',
    help: 'Spans of traces by outcome: pushed, failed with their push, dropped because 4,096 were waiting.',
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
