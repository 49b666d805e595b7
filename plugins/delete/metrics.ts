export const deleteMetrics = {
  deletions_running: {
    type: 'gauge',
    help: 'Deletions that the backend has not finished: caches are off for the tenants that they touch.',
    ofWorkers: 'max',
  },
  deletions_ended_total: {
    type: 'counter',
    help: 'Deletions that are no longer followed, by outcome: finished, refused by the backend, given_up because their end was not told; each worker counts its own.',
    labels: ['outcome'],
  },
} as const;
