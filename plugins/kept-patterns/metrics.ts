import { counters, gauges } from '../../core/base/meters.js';

export const keptPatternsMetrics = {
  ...counters({
    patterns_stored_total: 'Patterns added to the cache.',
    patterns_restored_from_disk_total: 'Patterns restored from the snapshot file.',
    patterns_restored_disk_entries_total: 'Cache entries restored from the snapshot file.',
    patterns_restored_disk_bytes_total: 'Bytes of cache entries restored from the snapshot file.',
    patterns_restored_from_peers_total: 'Patterns restored from peers.',
    patterns_restored_peer_entries_total: 'Cache entries restored from peers.',
    patterns_restored_peer_bytes_total: 'Bytes of cache entries restored from peers.',
    patterns_snapshot_hits_total: 'Cache hits of pattern requests.',
    patterns_snapshot_misses_total: 'Cache misses of pattern requests.',
    patterns_snapshot_reused_total: 'Pattern requests answered from the cache.',
    patterns_persist_writes_total: 'Successful writes of the snapshot file.',
    patterns_persist_write_bytes_total: 'Bytes written to snapshot files.',
    patterns_persist_errors_total: 'Failed writes of the snapshot file.',
  }),
  ...gauges({
    patterns_in_memory: 'Patterns in the cache.',
    patterns_cache_keys: 'Entries in the patterns cache.',
    patterns_in_memory_bytes: 'Bytes in the patterns cache.',
    patterns_persisted_disk_entries: 'Cache entries in the snapshot file.',
    patterns_persisted_disk_patterns: 'Patterns in the snapshot file.',
    patterns_persisted_disk_bytes: 'Size of the snapshot file in bytes.',
  }),
  patterns_deduplicated_total: {
    type: 'counter',
    help: 'Cache entries that arrived for an existing cache key, of which the newer one was kept, by source: this process (mem), the snapshot file (disk), a peer (peer).',
    labels: ['source'],
  },
  patterns_dropped_total: {
    type: 'counter',
    help: 'Entries of the patterns cache that were dropped: evicted for others, or refused because they are too large.',
    labels: ['reason'],
  },
  patterns_autodetect_total: {
    type: 'counter',
    help: 'Past log queries whose patterns were to be prefetched, by outcome: `found`, `none` (no patterns), `dropped` (queue full).',
    labels: ['outcome'],
  },
} as const;
