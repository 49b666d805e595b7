/** What the stage measures; names get the prefix `ref_proxy_` (spec: Metrics). */
export const backendMetrics = {
  backend_duration_seconds: {
    type: 'histogram',
    help: 'Time of a call to the backend, from its start to the end of its answer',
    labels: ['system', 'direction', 'endpoint', 'route'],
  },
  circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker: 0 closed, 1 open, 2 half-open',
  },
} as const;
