import type { Clock } from '../base/clock.js';
import { ByteLru, type Memory } from '../base/memory/byte-lru.js';
import type { Meters } from '../base/meters.js';
import { SelectionFacts, type Facts, type Finding } from './metric/count/facts.js';
import type { Inventory } from './metric/count/inventory.js';
import { LineShapes, type Cutting } from './metric/count/shapes.js';
import type { Declined } from './metric/declined.js';

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
} as const;

/** What is learned of a backend to ask it for less; each is bounded, and answers are the same without. */
export interface Memories {
  readonly facts: SelectionFacts;
  readonly shapes: LineShapes;
  /** Statistics that turned out to have too many groups. */
  readonly refusals: Memory<Declined>;
  /** By whose data, and selection. */
  readonly inventories: Memory<Inventory>;
}

const maxEntries = 2000;
/** Of each memory. */
const maxBytes = 16 << 20;

export function createMemories({
  clock,
  meters,
}: {
  readonly clock: Clock;
  readonly meters: Meters<typeof learnedMetrics>;
}): Memories {
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
    shapes: new LineShapes(memory<Cutting | Declined>('shapes')),
    refusals: memory<Declined>('refusals'),
    inventories: memory<Inventory>('inventories'),
  };
}
