import type { LabelSet } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, keptLabelsBytes, labelsBytes, textBytes } from '../../base/memory/sizes.js';

const maxKnown = 16_384;

/** Numbers label sets from 0: equal sets get the same number, and a repeated object is found quickly. */
export class SeriesIndex {
  /** The shown labels of each set. */
  readonly sets: LabelSet[] = [];
  /** True once a set did not fit. */
  isFull = false;
  readonly #shown: ((labels: LabelSet) => LabelSet) | undefined;
  readonly #max: number;
  readonly #shownByKey = new Map<string, LabelSet>();
  readonly #byKey = new Map<string, number>();
  /** Weak, because the text of a set may be slices of long lines. */
  #byObject = new WeakMap<LabelSet, number>();
  #known = 0;
  #keptElsewhere = 0;
  readonly #memory: MemoryAccount;
  #last: LabelSet | undefined;
  #lastNumber = 0;

  /**
   * @param memory is charged for every set
   * @param max the most sets; 0 means unlimited
   * @param shown selects the labels to keep; sets that differ only in other labels are still distinguished
   */
  constructor(memory: MemoryAccount, max = 0, shown?: (labels: LabelSet) => LabelSet) {
    this.#memory = memory;
    this.#max = max;
    this.#shown = shown;
  }

  /** The number of a set, or -1 for a new one that does not fit. */
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
          // The maker of the set keeps it as well, up to a bound.
          const bytes = labelsBytes(labels);
          this.#keptElsewhere += bytes;
          this.#memory.charge(bytes, 'the labels of series');
        }
        this.sets.push(this.#show(labels));
        this.#byKey.set(labels.key, number);
      }
      // A caller that makes a new object for every sample must not fill the memory.
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

  /** The number of distinct sets of shown labels. */
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
