import type { Clock } from '../base/clock.js';
import { ByteLru, type Memory } from '../base/memory/byte-lru.js';
import type { Meters } from '../base/meters.js';
import { Facts } from './facts.js';
import type { KnownRepeats } from './metric/count/found-repeats.js';
import { SelectionProfiler, type SelectionProfile, type SegmentProfile } from './metric/count/profile.js';
import { StreamChecksums, type StreamListing } from './metric/count/stream-listing.js';
import { type LineDigest, LineDigests } from './metric/count/line-digests.js';
import type { Declined, SeenRows, SentRows } from './metric/cost.js';
import type { LearnedSums } from './volume/metadata-bytes.js';

export const learnedMetrics = {
  learned_entries: {
    type: 'gauge',
    help: 'Cached facts about the backend, by kind.',
    labels: ['memory'],
  },
  learned_bytes: {
    type: 'gauge',
    help: 'Estimated bytes of cached facts, by kind.',
    labels: ['memory'],
  },
  learned_drops_total: {
    type: 'counter',
    help: 'Facts that were evicted or refused, by kind and reason.',
    labels: ['memory', 'reason'],
  },
  learned_snapshots_total: {
    type: 'counter',
    help: 'Snapshots of facts about time ranges, by outcome: written, failed.',
    labels: ['outcome'],
  },
  learned_snapshot_bytes: { type: 'gauge', help: 'Size of the last snapshot in bytes.' },
  learned_restored_total: {
    type: 'counter',
    help: 'Facts about time ranges loaded from another process, by source: the snapshot file (disk), a peer (peer).',
    labels: ['source'],
  },
} as const;

/** Facts learned about a backend that make later requests cheaper. Each memory is bounded, and answers do not depend on it. */
export interface Memories {
  readonly profiler: SelectionProfiler;
  readonly digests: LineDigests;
  /** Declines of strategies caused by data. */
  readonly refusals: Memory<Declined>;
  /** Streams and fields by owner of the data and selection. */
  readonly listings: Memory<StreamListing>;
  /** Rows per nanosecond, by owner of the data and selection. */
  readonly densities: Memory<number>;
  /** Inspected rows by owner of the data and selection. */
  readonly seen: Memory<SeenRows>;
  /** Bytes of a line, by owner of the data and selection. */
  readonly lineBytes: Memory<number>;
  /** Amounts received, by owner of the data, selection, strategy and its parameters. */
  readonly sent: Memory<SentRows>;
  /** The cost of structured metadata, by owner of the data, selection and sample. */
  readonly metadata: Memory<LearnedSums>;
  /** Makes the checksums of all memories. */
  readonly checksums: StreamChecksums;
  /** Facts about time segments. */
  readonly facts: Facts;
}

/** Limits of each memory. */
const usualLimits = { maxEntries: 2000, maxBytes: 16 << 20 };
/** Limits for listings, of which one may have as many streams as a RowReader remembers. */
const listingLimits = { maxEntries: 500, maxBytes: 64 << 20, maxEntryBytes: 24 << 20 };
/** Limits for findings about time segments, of which a selection has many, some with surplus rows. */
const segmentLimits = { maxEntries: 10_000, maxBytes: 32 << 20 };

export function createMemories({
  clock,
  meters,
}: {
  readonly clock: Clock;
  readonly meters: Meters<typeof learnedMetrics>;
}): Memories {
  let revision = 0;
  function memory<Value>(
    name: string,
    limits = usualLimits,
    changed = (): void => undefined,
  ): ByteLru<Value> {
    const resized = (entries: number, bytes: number): void => {
      changed();
      meters.learned_entries.set(entries, { memory: name });
      meters.learned_bytes.set(bytes, { memory: name });
    };
    const dropped = (reason: string): void => meters.learned_drops_total.add(1, { memory: name, reason });
    return new ByteLru<Value>({ ...limits, clock, observer: { resized, dropped } });
  }
  const changed = (): void => void (revision += 1);
  const checksums = new StreamChecksums();
  const segments = memory<SegmentProfile>('stretches', segmentLimits, changed);
  return {
    profiler: new SelectionProfiler(
      segments,
      memory<SelectionProfile>('selections'),
      memory<KnownRepeats>('repeats', segmentLimits),
      { checksums, clock },
    ),
    digests: new LineDigests(memory<LineDigest | Declined>('shapes')),
    refusals: memory<Declined>('refusals'),
    listings: memory<StreamListing>('inventories', listingLimits),
    densities: memory<number>('densities'),
    seen: memory<SeenRows>('seen-rows'),
    lineBytes: memory<number>('line-bytes'),
    sent: memory<SentRows>('sent-rows'),
    metadata: memory<LearnedSums>('metadata'),
    checksums,
    facts: new Facts(segments, segmentLimits, checksums, clock, () => revision),
  };
}
