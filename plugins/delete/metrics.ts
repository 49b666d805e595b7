export const deleteMetrics = {
  deletions_running: {
    type: 'gauge',
    help: 'Deletions that the backend has not finished; caches are off for their tenants.',
    ofWorkers: 'max',
  },
  deletions_ended_total: {
    type: 'counter',
    help: 'Deletions that the proxy no longer follows, by outcome: finished, refused by the backend, given_up because the backend did not report their end; each worker counts its own.',
    labels: ['outcome'],
  },
} as const;
