import type { Meters } from '../../core/base/meters.js';
import type { Logger } from '../../core/base/logger.js';
import type { LabelIndexObserver } from '../../core/cache/label-index/label-index.js';
import type { SnapshotObserver } from '../../core/base/files/snapshot-keeper.js';

export const indexMetrics = {
  label_index_hits_total: { type: 'counter', help: 'Browses of label values that the index answered.' },
  label_index_misses_total: {
    type: 'counter',
    help: 'Browses of label values that were read from the backend, because the label was not indexed yet.',
  },
  label_index_labels: { type: 'gauge', help: 'Labels in the index, of all tenants.' },
  label_index_entries: { type: 'gauge', help: 'Values in the index, of all labels.' },
  label_index_bytes: { type: 'gauge', help: 'Memory of the index.' },
  label_index_evictions_total: {
    type: 'counter',
    help: 'Values that left the index to make room: more than -label-values-index-max-entries of a label (entries), or their label went as there were more labels (labels) or bytes (bytes) than the index may hold.',
    labels: ['reason'],
  },
  label_index_snapshots_total: {
    type: 'counter',
    help: 'Snapshots of the index by outcome: written, failed.',
    labels: ['outcome'],
  },
  label_index_snapshot_bytes: { type: 'gauge', help: 'Size of the snapshot that was written last.' },
} as const;

type IndexMeters = Meters<typeof indexMetrics>;

export function indexObserver(meters: IndexMeters, log: Logger, maxBytes: number): LabelIndexObserver {
  return {
    resized: (labels, entries, bytes) => {
      meters.label_index_labels.set(labels, {});
      meters.label_index_entries.set(entries, {});
      meters.label_index_bytes.set(bytes, {});
    },
    evicted: (reason, values) => meters.label_index_evictions_total.add(values, { reason }),
    refused: (label, bytes) => {
      log.warn('a label is too large for the index: it takes more than label-index.maxBytes', {
        'label.name': label,
        'label.bytes': bytes,
        'index.max_bytes': maxBytes,
      });
    },
  };
}

export function snapshotObserver(meters: IndexMeters): SnapshotObserver {
  return {
    wrote: (bytes) => {
      meters.label_index_snapshots_total.add(1, { outcome: 'written' });
      meters.label_index_snapshot_bytes.set(bytes, {});
    },
    failed: () => meters.label_index_snapshots_total.add(1, { outcome: 'failed' }),
  };
}
