/** Metrics of this stage; names get the prefix `ref_proxy_` (docs/protocol/operation.md#metrics). */
export const historyMetrics = {
  loki_history_requests_total: {
    type: 'counter',
    help: 'Requests by the location of their data: old (the old Loki), new (the backend), or both',
    labels: ['route'],
  },
  loki_history_calls_total: {
    type: 'counter',
    help: 'Calls to the old Loki, by outcome: answered, refused (its answer has a status from 400 to 499), failed, or cancelled by the request',
    labels: ['outcome'],
  },
  loki_history_calls: {
    type: 'gauge',
    help: 'Calls to the old Loki, by state: running or waiting for one of its permits',
    labels: ['state'],
  },
  loki_history_circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker of the old Loki: 0 closed, 1 open, 2 half-open',
    ofWorkers: 'max',
  },
  loki_history_lines_total: {
    type: 'counter',
    help: 'Lines read from the old Loki and the backend for ranges of metric queries that reach over the time of the move',
  },
  loki_history_partial_answers_total: {
    type: 'counter',
    help: 'Partial answers without old data, because the old Loki could not be read',
  },
} as const;
