const seconds = [0.005, 0.02, 0.1, 0.5, 2, 10, 30];

/** Specification: Query-range windowing. */
export const windowMetrics = {
  window_cache_hit_total: { type: 'counter', help: 'Windows taken from the cache.' },
  window_cache_miss_total: { type: 'counter', help: 'Windows that were not in the cache.' },
  window_prefilter_attempt_total: {
    type: 'counter',
    help: 'Times that lines were counted before windows were read.',
  },
  window_prefilter_error_total: {
    type: 'counter',
    help: 'Counts of lines that failed: the windows were read without them.',
  },
  window_prefilter_kept_total: { type: 'counter', help: 'Counted windows that hold lines.' },
  window_prefilter_skipped_total: {
    type: 'counter',
    help: 'Counted windows without lines, which were not read.',
  },
  window_retry_total: { type: 'counter', help: 'Reads that failed and were made again, window by window.' },
  window_degraded_batch_total: {
    type: 'counter',
    help: 'Queries that went on with one window at a time after a failure.',
  },
  window_partial_response_total: { type: 'counter', help: 'Answers without the windows that failed.' },
  window_warmed_total: {
    type: 'counter',
    help: 'Windows before those of a query that were looked for or read ahead.',
  },
  window_fetch_seconds: {
    type: 'histogram',
    help: 'Time of reading windows that follow each other.',
    buckets: seconds,
  },
  window_merge_seconds: { type: 'histogram', help: 'Time of putting windows together.', buckets: seconds },
  window_count: {
    type: 'histogram',
    help: 'Windows of a query.',
    buckets: [2, 4, 8, 16, 32, 64, 128, 256, 512],
  },
  window_prefilter_duration_seconds: { type: 'histogram', help: 'Time of counting lines.', buckets: seconds },
  window_prefilter_hit_ratio: {
    type: 'gauge',
    help: 'Share of the windows counted last that hold lines.',
    ofWorkers: 'average',
  },
  window_adaptive_parallel_current: {
    type: 'gauge',
    help: 'Reads that one query makes at once.',
    ofWorkers: 'average',
  },
  window_adaptive_latency_ewma_seconds: {
    type: 'gauge',
    help: 'Moving average of the time of a window.',
    ofWorkers: 'average',
  },
  window_adaptive_error_ewma: {
    type: 'gauge',
    help: 'Moving average of the share of reads that failed.',
    ofWorkers: 'average',
  },
} as const;
