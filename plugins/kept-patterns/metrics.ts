export const keptPatternsMetrics = {
  patterns_stored_total: { type: 'counter', help: 'Patterns in answers that were kept.' },
  patterns_restored_from_disk_total: { type: 'counter', help: 'Patterns restored from the snapshot file.' },
  patterns_restored_disk_entries_total: {
    type: 'counter',
    help: 'Answers with patterns restored from the snapshot file.',
  },
  patterns_restored_disk_bytes_total: {
    type: 'counter',
    help: 'Bytes of answers restored from the snapshot file.',
  },
  patterns_restored_from_peers_total: { type: 'counter', help: 'Patterns restored from peers.' },
  patterns_restored_peer_entries_total: {
    type: 'counter',
    help: 'Answers with patterns restored from peers.',
  },
  patterns_restored_peer_bytes_total: { type: 'counter', help: 'Bytes of answers restored from peers.' },
  patterns_deduplicated_total: {
    type: 'counter',
    help: 'Answers with patterns that came for a key that had one, of which the newer was kept: made by this process (mem), from the snapshot file (disk), from a peer (peer).',
    labels: ['source'],
  },
  patterns_in_memory: { type: 'gauge', help: 'Patterns in the answers that are kept.' },
  patterns_cache_keys: { type: 'gauge', help: 'Answers with patterns that are kept.' },
  patterns_in_memory_bytes: { type: 'gauge', help: 'Bytes of the answers with patterns that are kept.' },
  patterns_dropped_total: {
    type: 'counter',
    help: 'Answers with patterns dropped or not taken: evicted for others, refused (too large).',
    labels: ['reason'],
  },
  patterns_snapshot_hits_total: {
    type: 'counter',
    help: 'Requests for patterns of the past that were kept.',
  },
  patterns_snapshot_misses_total: {
    type: 'counter',
    help: 'Requests for patterns of the past that were not kept.',
  },
  patterns_snapshot_reused_total: {
    type: 'counter',
    help: 'Requests answered with patterns that were kept.',
  },
  patterns_persist_writes_total: { type: 'counter', help: 'Times that the snapshot file was written.' },
  patterns_persist_write_bytes_total: { type: 'counter', help: 'Bytes written to snapshot files.' },
  patterns_persist_errors_total: {
    type: 'counter',
    help: 'Times that the snapshot file could not be written.',
  },
  patterns_persisted_disk_entries: { type: 'gauge', help: 'Answers in the snapshot file.' },
  patterns_persisted_disk_patterns: { type: 'gauge', help: 'Patterns in the snapshot file.' },
  patterns_persisted_disk_bytes: { type: 'gauge', help: 'Size of the snapshot file in bytes.' },
  patterns_autodetect_total: {
    type: 'counter',
    help: 'Log queries of the past whose patterns were to be found ahead of time, by outcome: `found`, `none` (nothing to keep), `dropped` (too many wait).',
    labels: ['outcome'],
  },
} as const;
