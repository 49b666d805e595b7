/** Metrics of this stage; names get the prefix `ref_proxy_` (docs/protocol/operation.md#metrics). */
export const coldMetrics = {
  cold_routed_total: {
    type: 'counter',
    help: 'Reads by where their rows lie: in the hot backend, in the cold one, or in both',
    labels: ['route'],
  },
  cold_calls_total: {
    type: 'counter',
    help: 'Calls to the cold backend: answered, refused (what is refused is computed from rows), failed, or given up by the request',
    labels: ['outcome'],
  },
  cold_calls: {
    type: 'gauge',
    help: 'Calls to the cold backend, by state: running or waiting for one of -max-concurrent places',
    labels: ['state'],
  },
  cold_circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker of the cold backend: 0 closed, 1 open, 2 half-open',
    ofWorkers: 'max',
  },
  cold_partial_answers_total: {
    type: 'counter',
    help: 'Answers from hot data alone because the cold backend could not be read',
  },
  cold_manifest_reads_total: {
    type: 'counter',
    help: 'Reads of the manifest of the cold backend: read, or failed, after which the last one stays in use',
    labels: ['outcome'],
  },
  cold_manifest_read_timestamp_seconds: {
    type: 'gauge',
    help: 'When the manifest of the cold backend was last read; its age is the time since then',
    ofWorkers: 'min',
  },
  cold_newest_timestamp_seconds: {
    type: 'gauge',
    help: 'Time of the newest row of the cold backend, as its manifest tells',
    ofWorkers: 'max',
  },
} as const;
