import type { LabelSet } from '../../labels/label-set.js';

const maxKnown = 65_536;

/** Numbers label sets from 0 on: equal sets get the same number, and the same object gets it fast. */
export class SeriesIndex {
  readonly sets: LabelSet[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #byObject = new Map<LabelSet, number>();
  #last: LabelSet | undefined;
  #lastNumber = 0;

  of(labels: LabelSet): number {
    if (labels === this.#last) return this.#lastNumber;
    let number = this.#byObject.get(labels);
    if (number === undefined) {
      number = this.#byKey.get(labels.key);
      if (number === undefined) {
        number = this.sets.length;
        this.sets.push(labels);
        this.#byKey.set(labels.key, number);
      }
      // Whoever makes a new object for every sample must not fill the memory with them.
      if (this.#byObject.size >= maxKnown) this.#byObject.clear();
      this.#byObject.set(labels, number);
    }
    this.#last = labels;
    this.#lastNumber = number;
    return number;
  }
}
