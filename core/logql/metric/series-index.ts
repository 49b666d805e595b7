import type { LabelSet } from '../../labels/label-set.js';

const maxKnown = 16_384;

/** Numbers label sets from 0 on: equal sets get the same number, and the same object gets it fast. */
export class SeriesIndex {
  /** What is shown of each. */
  readonly sets: LabelSet[] = [];
  /** True once a set found no room. */
  isFull = false;
  readonly #shown: ((labels: LabelSet) => LabelSet) | undefined;
  readonly #max: number;
  readonly #shownByKey = new Map<string, LabelSet>();
  readonly #byKey = new Map<string, number>();
  readonly #byObject = new Map<LabelSet, number>();
  #last: LabelSet | undefined;
  #lastNumber = 0;

  /**
   * @param max the most sets; 0 is no bound
   * @param shown what to keep of a label set; sets with equal remains are still told apart
   */
  constructor(max = 0, shown?: (labels: LabelSet) => LabelSet) {
    this.#max = max;
    this.#shown = shown;
  }

  /** The number of a set, or -1 for a new one where there is no room. */
  of(labels: LabelSet): number {
    if (labels === this.#last) return this.#lastNumber;
    let number = this.#byObject.get(labels);
    if (number === undefined) {
      number = this.#byKey.get(labels.key);
      if (number === undefined) {
        number = this.sets.length;
        if (this.#max > 0 && number >= this.#max) {
          this.isFull = true;
          return -1;
        }
        this.sets.push(this.#show(labels));
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

  #show(labels: LabelSet): LabelSet {
    if (this.#shown === undefined) return labels;
    const shown = this.#shown(labels);
    const known = this.#shownByKey.get(shown.key);
    if (known !== undefined) return known;
    this.#shownByKey.set(shown.key, shown);
    return shown;
  }
}
