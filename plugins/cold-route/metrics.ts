/** Metrics of this stage; names get the prefix `ref_proxy_` (docs/protocol/operation.md#metrics). */
export const coldMetrics = {
  cold_routed_total: {
    type: 'counter',
    help: 'Reads by the location of their rows: hot backend, cold backend, or both',
    labels: ['route'],
  },
  cold_calls_total: {
    type: 'counter',
    help: 'Calls to the cold backend, by outcome: answered, refused (the proxy then computes the result from rows), failed, or cancelled by the request',
    labels: ['outcome'],
  },
  cold_calls: {
    type: 'gauge',
    help: 'Calls to the cold backend, by state: running or waiting for one of its permits',
    labels: ['state'],
  },
  cold_circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker of the cold backend: 0 closed, 1 open, 2 half-open',
    ofWorkers: 'max',
  },
  cold_partial_answers_total: {
    type: 'counter',
    help: 'Partial answers from hot data only, because the cold backend could not be read',
  },
  cold_manifest_reads_total: {
    type: 'counter',
    help: 'Reads of the manifest of the cold backend, by outcome: read, or failed (the last manifest stays in use)',
    labels: ['outcome'],
  },
  cold_manifest_read_timestamp_seconds: {
    type: 'gauge',
    help: 'Unix time of the last successful read of the manifest of the cold backend',
    ofWorkers: 'min',
  },
  cold_newest_timestamp_seconds: {
    type: 'gauge',
    help: 'Time of the newest row of the cold backend, according to its manifest',
    ofWorkers: 'max',
  },
} as const;
