/** Metrics of this stage; names get the prefix `ref_proxy_` (docs/protocol/operation.md#metrics). */
export const backendMetrics = {
  circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker: 0 closed, 1 open, 2 half-open',
    ofWorkers: 'max',
  },
  backend_calls: {
    type: 'gauge',
    help: 'Calls to the backend, by state: running or waiting for one of -max-concurrent places',
    labels: ['state'],
  },
  backend_partial_answers_total: {
    type: 'counter',
    help: 'Answers without the rows of storage nodes that the cluster could not reach',
  },
  backend_delay_seconds: {
    type: 'histogram',
    help: 'How much longer than at its best the backend took for something of fixed cost, looked at ten times a second while calls run',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  backend_heavy_queries: {
    type: 'gauge',
    help: 'Heavy queries on the backend, by state: running or waiting for a place',
    labels: ['state'],
  },
  backend_heavy_queries_refused_total: {
    type: 'counter',
    help: 'Heavy queries that got no place in time',
  },
  backend_metadata_scans: {
    type: 'gauge',
    help: 'Long listings of labels on the backend, by state: running or waiting for a place',
    labels: ['state'],
  },
  backend_metadata_scan_limit: {
    type: 'gauge',
    help: 'Long listings of labels that may run on the backend at once, as adapted to what it bears',
  },
  backend_metadata_scans_refused_total: {
    type: 'counter',
    help: 'Long listings of labels that got no place in time, found the queue full or were stopped for memory',
    labels: ['reason'],
  },
  backend_statistics: {
    type: 'gauge',
    help: 'Statistics over time on the backend, by state: running or waiting for one of -stats-query-range-concurrency places',
    labels: ['state'],
  },
  backend_drilldown_statistics_waiting: {
    type: 'gauge',
    help: 'Statistics over time of Logs Drilldown that wait for a place, most of them for the pause behind those before',
  },
} as const;
