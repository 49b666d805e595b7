import type { Slot } from './slot.js';

/** Sorts slots by name. Lines of one source have the same fields in the same order, so the previous order usually still fits. */
export class SlotSorter {
  #last: readonly Slot[] = [];
  #order: readonly number[] = [];

  sort(slots: readonly Slot[]): readonly Slot[] {
    if (!this.#isLast(slots)) this.#learn(slots);
    const sorted: Slot[] = [];
    for (const index of this.#order) {
      const slot = slots[index];
      if (slot !== undefined) sorted.push(slot);
    }
    return sorted;
  }

  #isLast(slots: readonly Slot[]): boolean {
    const last = this.#last;
    if (slots.length !== last.length) return false;
    for (let index = 0; index < slots.length; index += 1) if (slots[index] !== last[index]) return false;
    return true;
  }

  #learn(slots: readonly Slot[]): void {
    this.#last = slots;
    this.#order = slots
      .map(({ name }, index) => ({ name, index }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ index }) => index);
  }
}
