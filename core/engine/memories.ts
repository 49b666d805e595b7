import type { Clock } from '../base/clock.js';
import { ByteLru, type Memory } from '../base/memory/byte-lru.js';
import type { Meters } from '../base/meters.js';
import { Facts, type FactMemory } from './facts.js';
import { profileForm, spelledForm } from './metric/count/fact-json.js';
import { SelectionProfiler, type SelectionProfile, type StretchProfile } from './metric/count/profile.js';
import { Tallies, type StreamListing } from './metric/count/stream-listing.js';
import { LineShapes, type LineShaper } from './metric/count/shapes.js';
import { SpelledLevelFinder, type SpelledStretch } from './metric/count/spelled-levels.js';
import type { SeenRows, SentRows } from './metric/cost.js';
import type { Declined } from './metric/declined.js';
import type { LearnedSums } from './volume/metadata-bytes.js';

export const learnedMetrics = {
  learned_entries: {
    type: 'gauge',
    help: 'What the stage remembers of the backend, by kind.',
    labels: ['memory'],
  },
  learned_bytes: {
    type: 'gauge',
    help: 'Bytes of what the stage remembers, as they are estimated, by kind.',
    labels: ['memory'],
  },
  learned_drops_total: {
    type: 'counter',
    help: 'What was forgotten or not remembered, by kind and reason.',
    labels: ['memory', 'reason'],
  },
  learned_snapshots_total: {
    type: 'counter',
    help: 'Snapshots of what was learned about stretches of time by outcome: written, failed.',
    labels: ['outcome'],
  },
  learned_snapshot_bytes: { type: 'gauge', help: 'Size of the snapshot that was written last.' },
  learned_restored_total: {
    type: 'counter',
    help: 'What was learned about stretches of time by another process and taken, by source: the snapshot file (disk), a peer (peer).',
    labels: ['source'],
  },
} as const;

/** Facts learned about a backend that make requests to it cheaper. Each memory is bounded, and answers do not depend on it. */
export interface Memories {
  readonly profiler: SelectionProfiler;
  readonly shapes: LineShapes;
  readonly spelled: SpelledLevelFinder;
  /** Declines of strategies that the data has caused. */
  readonly refusals: Memory<Declined>;
  /** By owner of the data and selection. */
  readonly listings: Memory<StreamListing>;
  /** Rows per nanosecond, by owner of the data and selection. */
  readonly densities: Memory<number>;
  /** By owner of the data and selection. */
  readonly seen: Memory<SeenRows>;
  /** Bytes of a line, by owner of the data and selection. */
  readonly lineBytes: Memory<number>;
  /** By owner of the data, selection, strategy and what it is asked for. */
  readonly sent: Memory<SentRows>;
  /** The cost of structured metadata, by owner of the data, selection and sample. */
  readonly metadata: Memory<LearnedSums>;
  /** Makes the checksums of all of them. */
  readonly tallies: Tallies;
  /** Facts about time segments. */
  readonly facts: Facts;
}

/** Per memory. */
const usualLimits = { maxEntries: 2000, maxBytes: 16 << 20 };
/** Of stretches of time, of which a selection has many, some with surplus rows. */
const stretchLimits = { maxEntries: 10_000, maxBytes: 32 << 20 };

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
  const tallies = new Tallies();
  const stretches = memory<StretchProfile>('stretches', stretchLimits, changed);
  const spelled = memory<SpelledStretch>('spelled-levels', usualLimits, changed);
  const kept: readonly FactMemory[] = [
    { name: 'stretches', memory: stretches, limits: stretchLimits, form: profileForm },
    { name: 'spelled-levels', memory: spelled, limits: usualLimits, form: spelledForm },
  ];
  return {
    profiler: new SelectionProfiler(stretches, memory<SelectionProfile>('selections'), { tallies, clock }),
    shapes: new LineShapes(memory<LineShaper | Declined>('shapes')),
    spelled: new SpelledLevelFinder(spelled, { tallies, clock }),
    refusals: memory<Declined>('refusals'),
    listings: memory<StreamListing>('inventories'),
    densities: memory<number>('densities'),
    seen: memory<SeenRows>('seen-rows'),
    lineBytes: memory<number>('line-bytes'),
    sent: memory<SentRows>('sent-rows'),
    metadata: memory<LearnedSums>('metadata'),
    tallies,
    facts: new Facts(kept, tallies, clock, () => revision),
  };
}
