import type { LabelSet } from '../../labels/label-set.js';
import type { Slot } from './slot.js';

/** The labels of one stream, made ready once for all of its lines. */
export class BaseLabels {
  readonly set: LabelSet;
  readonly slots: readonly Slot[];
  readonly #values = new Map<string, string>();

  constructor(set: LabelSet, slotOf: (name: string) => Slot) {
    this.set = set;
    for (const [name, value] of set.labels) this.#values.set(name, value);
    this.slots = set.labels.map(([name]) => slotOf(name));
  }

  /** The value of a label by its slot, which remembers the answer. */
  value(slot: Slot): string | undefined {
    if (slot.base !== this) {
      slot.base = this;
      slot.baseValue = this.#values.get(slot.name);
    }
    return slot.baseValue;
  }
}
