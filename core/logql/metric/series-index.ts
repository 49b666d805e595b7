import type { LabelSet } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, keptLabelsBytes, labelsBytes, textBytes } from '../../base/memory/sizes.js';

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
  /** Holds nothing: a set may be made of parts of long lines. */
  #byObject = new WeakMap<LabelSet, number>();
  #known = 0;
  #keptElsewhere = 0;
  readonly #memory: MemoryAccount;
  #last: LabelSet | undefined;
  #lastNumber = 0;

  /**
   * @param memory is charged for every set
   * @param max the most sets; 0 is no bound
   * @param shown what to keep of a label set; sets with equal remains are still told apart
   */
  constructor(memory: MemoryAccount, max = 0, shown?: (labels: LabelSet) => LabelSet) {
    this.#memory = memory;
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
        if (this.#keptElsewhere < keptLabelsBytes) {
          // Whoever made the set keeps it as well, up to a bound.
          const bytes = labelsBytes(labels);
          this.#keptElsewhere += bytes;
          this.#memory.charge(bytes, 'the labels of series');
        }
        this.sets.push(this.#show(labels));
        this.#byKey.set(labels.key, number);
      }
      // Whoever makes a new object for every sample must not fill the memory with them.
      if (this.#known >= maxKnown) {
        this.#byObject = new WeakMap();
        this.#known = 0;
      }
      this.#known += 1;
      this.#byObject.set(labels, number);
    }
    this.#last = labels;
    this.#lastNumber = number;
    return number;
  }

  /** Different sets that are shown. */
  get shownCount(): number {
    return this.#shown === undefined ? this.sets.length : this.#shownByKey.size;
  }

  #show(labels: LabelSet): LabelSet {
    if (this.#shown === undefined) {
      this.#memory.charge(entryBytes + labelsBytes(labels), 'the labels of series');
      return labels.owned();
    }
    const shown = this.#shown(labels);
    this.#memory.charge(entryBytes + textBytes(labels.key), 'the labels of series');
    const known = this.#shownByKey.get(shown.key);
    if (known !== undefined) return known;
    const owned = shown.owned();
    this.#memory.charge(entryBytes + labelsBytes(owned), 'the labels of series');
    this.#shownByKey.set(owned.key, owned);
    return owned;
  }
}
