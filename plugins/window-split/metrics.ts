import { counters, gauges } from '../../core/base/meters.js';

const seconds = [0.005, 0.02, 0.1, 0.5, 2, 10, 30];

/** Specification: Query-range windowing. */
export const windowMetrics = {
  ...counters({
    window_cache_hit_total: 'Window cache hits.',
    window_cache_miss_total: 'Window cache misses.',
    window_prefilter_attempt_total: 'Line counts made before windows were read.',
    window_prefilter_error_total: 'Failed line counts, after which the windows were read without one.',
    window_prefilter_kept_total: 'Counted windows that contain lines.',
    window_prefilter_skipped_total: 'Counted windows without lines, which were skipped.',
    window_retry_total: 'Failed reads that were retried window by window.',
    window_degraded_batch_total: 'Queries that continued with one window at a time after a failure.',
    window_partial_response_total: 'Partial answers, without the windows that failed.',
    window_warmed_total: 'Prefetch of windows before those of a query, by outcome.',
  }),
  ...gauges(
    {
      window_prefilter_hit_ratio: 'Share of windows with lines in the last line count.',
      window_adaptive_parallel_current: 'Current number of parallel reads per query.',
      window_adaptive_latency_ewma_seconds: 'Moving average of the latency per window.',
      window_adaptive_error_ewma: 'Moving average of the error rate of reads.',
    },
    'average',
  ),
  window_fetch_seconds: {
    type: 'histogram',
    help: 'Duration of reads of adjacent windows.',
    buckets: seconds,
  },
  window_merge_seconds: { type: 'histogram', help: 'Duration of merging windows.', buckets: seconds },
  window_count: {
    type: 'histogram',
    help: 'Number of windows per query.',
    buckets: [2, 4, 8, 16, 32, 64, 128, 256, 512],
  },
  window_prefilter_duration_seconds: {
    type: 'histogram',
    help: 'Duration of line counts.',
    buckets: seconds,
  },
} as const;
