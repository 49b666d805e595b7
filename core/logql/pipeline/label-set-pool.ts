import { LabelSet, type Label } from '../../base/labels/label-set.js';
import { keptLabelsBytes } from '../../base/memory/sizes.js';
import { ownText } from './own-text.js';

const maxSets = 8192;
/** What a label takes beside its value. */
const labelBytes = 120;
/** After so many sets the pool looks whether it is of use. */
const trial = 1024;
/** A pool in which fewer than one set in this many was there before costs more than it saves. */
const leastUse = 8;

export type PoolUse = 'always' | 'while-useful';

/** Gives one LabelSet for equal labels, as long as it is kept: whoever groups by sets then makes their keys only once. */
export class LabelSetPool {
  readonly #sets = new Map<string, LabelSet>();
  readonly #use: PoolUse;
  #asked = 0;
  #found = 0;
  #bytes = 0;

  constructor(use: PoolUse) {
    this.#use = use;
  }

  /** The set of labels that are sorted by name. */
  of(labels: readonly Label[]): LabelSet {
    if (labels.length === 0) return LabelSet.empty;
    if (this.#use === 'while-useful' && this.#isUseless()) return LabelSet.fromSorted(labels);
    let key = '';
    for (const [name, value] of labels) key += `${name}\u0000${value.length}:${value}`;
    let set = this.#sets.get(key);
    this.#asked += 1;
    if (set !== undefined) {
      this.#found += 1;
      return set;
    }
    const bytes = 2 * key.length + labels.length * labelBytes;
    if (this.#sets.size >= maxSets || this.#bytes + bytes > keptLabelsBytes) {
      this.#sets.clear();
      this.#bytes = 0;
    }
    // A set that would fill the pool by itself is not kept.
    if (bytes > keptLabelsBytes / 8) return LabelSet.fromSorted(labels);
    this.#bytes += bytes;
    set = LabelSet.fromSorted(labels.map(([name, value]): Label => [name, ownText(value)]));
    this.#sets.set(key, set);
    return set;
  }

  #isUseless(): boolean {
    return this.#asked >= trial && this.#found * leastUse < this.#asked;
  }
}
