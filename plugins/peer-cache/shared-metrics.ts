import { ageBuckets } from '../../core/cache/answer-tier.js';

export const sharedMetrics = {
  shared_cache_up: {
    type: 'gauge',
    help: 'Whether the shared cache is in use: 1, or 0 while it fails or is too slow.',
    ofWorkers: 'min',
  },
  shared_cache_hits_total: { type: 'counter', help: 'Shared cache hits.' },
  shared_cache_misses_total: {
    type: 'counter',
    help: 'Shared cache misses, including lookups that timed out.',
  },
  shared_cache_sets_total: { type: 'counter', help: 'Answers written to the shared cache.' },
  shared_cache_errors_total: {
    type: 'counter',
    help: 'Failures of the shared cache, by reason: connection, timeout, auth, full (it refuses writes), other.',
    labels: ['reason'],
  },
  shared_cache_drops_total: {
    type: 'counter',
    help: 'Answers that were not written (refused: too large or queue full; off; lost) or not used after a read (damaged: not the value that was written).',
    labels: ['reason'],
  },
  shared_cache_purges_total: {
    type: 'counter',
    help: 'Purges that this process sent to the shared cache or received from it.',
    labels: ['by'],
  },
  shared_cache_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of answers that are being written to the shared cache.',
  },
  shared_cache_lookup_seconds: {
    type: 'histogram',
    help: 'Latency of lookups in the shared cache.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
  },
  shared_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of shared cache hits.',
    buckets: ageBuckets,
  },
} as const;
