/** Metrics of tails; names get the prefix `ref_proxy_`. */
export const tailMetrics = {
  tail_open: { type: 'gauge', help: 'Tails that are open.' },
  tail_ended_total: { type: 'counter', help: 'Tails that have ended, by reason.', labels: ['reason'] },
  tail_entries_total: { type: 'counter', help: 'Entries sent to tails.' },
  tail_dropped_entries_total: { type: 'counter', help: 'Entries that clients of tails were too slow for.' },
  tail_early_entries_total: {
    type: 'counter',
    help: 'Entries that were sent before older ones of their stream were certain to be there, because too many were waiting.',
  },
  tail_failed_polls_total: { type: 'counter', help: 'Polls for new lines that failed.' },
} as const;
