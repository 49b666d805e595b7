import type { LabelSet } from '../../base/labels/label-set.js';
import { BaseLabels, Slot } from './slot.js';
import { clashSuffix } from './types.js';

/** Names come from untrusted lines: with more than this many the table starts over. */
const maxSlots = 8192;
const maxBases = 4096;

/** All label names that one compiled query has encountered, each with its slot. */
export class SlotTable {
  readonly #pinned = new Map<string, Slot>();
  #slots = new Map<string, Slot>();
  #bases = new Map<LabelSet, BaseLabels>();
  #lastBase: BaseLabels | undefined;
  #generation = 0;

  /** Changes when unpinned slots are dropped: their holders must drop them too. */
  get generation(): number {
    return this.#generation;
  }

  /** The slot of a name that the query itself uses; it is kept for the query's lifetime. */
  pin(name: string): Slot {
    const slot = this.slot(name);
    this.#pinned.set(name, slot);
    return slot;
  }

  slot(name: string): Slot {
    let slot = this.#slots.get(name);
    if (slot === undefined) this.#slots.set(name, (slot = new Slot(name)));
    return slot;
  }

  /** The slot of a name, only if a line or the query has used it. */
  known(name: string): Slot | undefined {
    return this.#slots.get(name);
  }

  clashOf(slot: Slot): Slot {
    slot.clash ??= this.slot(slot.name + clashSuffix);
    return slot.clash;
  }

  base(stream: LabelSet): BaseLabels {
    const last = this.#lastBase;
    if (last?.set === stream) return last;
    let base = this.#bases.get(stream);
    if (base === undefined) {
      if (this.#bases.size >= maxBases) this.#bases.clear();
      this.#bases.set(stream, (base = new BaseLabels(stream, (name) => this.slot(name))));
    }
    return (this.#lastBase = base);
  }

  /** Drops the slots of names from lines when there are too many; only between lines. */
  trim(): void {
    if (this.#slots.size <= maxSlots) return;
    this.#slots = new Map(this.#pinned);
    for (const slot of this.#slots.values()) {
      slot.base = undefined;
      slot.clash = undefined;
    }
    this.#bases = new Map();
    this.#lastBase = undefined;
    this.#generation += 1;
  }
}
