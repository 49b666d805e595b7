import { counters } from '../../core/base/meters.js';

/** Metrics of tails; names get the prefix `ref_proxy_`. */
export const tailMetrics = {
  ...counters({
    tail_entries_total: 'Entries sent to tails.',
    tail_dropped_entries_total: 'Entries dropped because the client of a tail was too slow.',
    tail_early_entries_total:
      'Entries sent before all older entries of their stream were certain to have arrived, because too many were waiting.',
    tail_failed_polls_total: 'Failed polls for new lines.',
  }),
  tail_ended_total: { type: 'counter', help: 'Closed tails, by reason.', labels: ['reason'] },
  tail_open: { type: 'gauge', help: 'Number of open tails.' },
} as const;
