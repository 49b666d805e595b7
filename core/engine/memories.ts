import { ByteLru } from '../base/memory/byte-lru.js';
import type { Host } from '../kernel/plugin/host.js';
import { lineWorkerMetrics } from './line-workers.js';
import type { Memory } from './memory.js';
import { SelectionFacts, type Facts, type Finding } from './metric/count/facts.js';
import type { Inventory } from './metric/count/inventory.js';
import { Refusals } from './metric/count/refusals.js';
import { LineShapes, type KnownCutting } from './metric/count/shapes.js';

export const responseShapeMetrics = {
  ...lineWorkerMetrics,
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
} as const;

/** What is learned of a backend to ask it for less; each is bounded, and answers are the same without. */
export interface Memories {
  readonly facts: SelectionFacts;
  readonly shapes: LineShapes;
  readonly refusals: Refusals;
  /** By whose data, and selection. */
  readonly inventories: Memory<Inventory>;
}

const maxEntries = 2000;
/** Of each memory. */
const maxBytes = 16 << 20;

export function createMemories({
  clock,
  meters,
}: Pick<Host<typeof responseShapeMetrics>, 'clock' | 'meters'>): Memories {
  function memory<Value>(name: string): Memory<Value> {
    const resized = (entries: number, bytes: number): void => {
      meters.learned_entries.set(entries, { memory: name });
      meters.learned_bytes.set(bytes, { memory: name });
    };
    const dropped = (reason: string): void => meters.learned_drops_total.add(1, { memory: name, reason });
    return new ByteLru<Value>({ maxEntries, maxBytes, clock, observer: { resized, dropped } });
  }
  return {
    facts: new SelectionFacts(memory<Finding>('stretches'), memory<Facts>('selections')),
    shapes: new LineShapes(memory<KnownCutting>('shapes')),
    refusals: new Refusals(memory<true>('refusals')),
    inventories: memory<Inventory>('inventories'),
  };
}
