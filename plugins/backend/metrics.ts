/** What the stage measures; names get the prefix `ref_proxy_` (spec: Metrics). */
export const backendMetrics = {
  circuit_breaker_state: {
    type: 'gauge',
    help: 'State of the circuit breaker: 0 closed, 1 open, 2 half-open',
  },
} as const;
