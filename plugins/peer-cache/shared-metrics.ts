import { ageBuckets } from '../../core/cache/answer-tier.js';

export const sharedMetrics = {
  shared_cache_up: {
    type: 'gauge',
    help: 'Whether the shared cache is in use: 0 while it fails or is too slow.',
    ofWorkers: 'min',
  },
  shared_cache_hits_total: { type: 'counter', help: 'Answers taken from the shared cache.' },
  shared_cache_misses_total: {
    type: 'counter',
    help: 'Answers that were not in the shared cache, or came too late to be waited for.',
  },
  shared_cache_sets_total: { type: 'counter', help: 'Answers written to the shared cache.' },
  shared_cache_errors_total: {
    type: 'counter',
    help: 'Failures of the shared cache: connection, timeout, auth, full (it takes no answers), other.',
    labels: ['reason'],
  },
  shared_cache_drops_total: {
    type: 'counter',
    help: 'Answers not written (refused: too large or too many wait; off, lost), or read and not used (damaged: not what was written).',
    labels: ['reason'],
  },
  shared_cache_purges_total: {
    type: 'counter',
    help: 'Purges that the shared cache was told of by this process, or has told it of.',
    labels: ['by'],
  },
  shared_cache_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of answers on their way to the shared cache.',
  },
  shared_cache_lookup_seconds: {
    type: 'histogram',
    help: 'How long look-ups in the shared cache were waited for.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
  },
  shared_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of the answers taken from the shared cache.',
    buckets: ageBuckets,
  },
} as const;
