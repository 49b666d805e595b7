/** Metrics of this stage; names get the prefix `ref_proxy_` (docs/protocol/operation.md#metrics). */
export const backendMetrics = {
  circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker: 0 closed, 1 open, 2 half-open',
    ofWorkers: 'max',
  },
  backend_calls: {
    type: 'gauge',
    help: 'Calls to the backend, by state: running or waiting for one of -max-concurrent permits',
    labels: ['state'],
  },
  backend_partial_answers_total: {
    type: 'counter',
    help: 'Partial answers, without the rows of storage nodes that the cluster could not reach',
  },
  backend_delay_seconds: {
    type: 'histogram',
    help: 'Latency of a fixed-cost probe of the backend relative to its best value, measured ten times a second while calls run',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  backend_heavy_queries: {
    type: 'gauge',
    help: 'Heavy queries on the backend, by state: running or waiting for a permit',
    labels: ['state'],
  },
  backend_heavy_queries_refused_total: {
    type: 'counter',
    help: 'Heavy queries refused because they got no permit in time',
  },
  backend_metadata_scans: {
    type: 'gauge',
    help: 'Long label scans on the backend, by state: running or waiting for a permit',
    labels: ['state'],
  },
  backend_metadata_scan_limit: {
    type: 'gauge',
    help: 'Current adaptive limit of long label scans that run on the backend at once',
  },
  backend_metadata_scans_refused_total: {
    type: 'counter',
    help: 'Long label scans that got no permit in time, found the queue full or were stopped to save memory',
    labels: ['reason'],
  },
  backend_statistics: {
    type: 'gauge',
    help: 'Statistics queries over time on the backend, by state: running or waiting for one of -stats-query-range-concurrency permits',
    labels: ['state'],
  },
  backend_drilldown_statistics_waiting: {
    type: 'gauge',
    help: 'Statistics queries of Logs Drilldown that wait for a permit, most of them for the pause after earlier queries',
  },
} as const;
