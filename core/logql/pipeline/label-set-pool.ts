import { LabelSet, type Label } from '../../base/labels/label-set.js';
import { keptLabelsBytes } from '../../base/memory/sizes.js';
import { ownText } from './own-text.js';

const maxSets = 8192;
/** Bytes per label in addition to its value. */
const labelBytes = 120;
/** The pool evaluates its hit rate after this many sets: what it keeps meanwhile is as much as a query of a hundred lines can be worth. */
const trial = 128;
/** A pool with a lower hit rate than one in this many costs more than it saves. */
const leastUse = 8;

export type PoolUse = 'always' | 'while-useful';

/** Returns the same LabelSet for equal labels while it is kept, so that grouping by sets computes their keys only once. */
export class LabelSetPool {
  readonly #sets = new Map<string, LabelSet>();
  readonly #use: PoolUse;
  #asked = 0;
  #found = 0;
  #bytes = 0;

  constructor(use: PoolUse) {
    this.#use = use;
  }

  /** The set for labels that are sorted by name. */
  of(labels: readonly Label[]): LabelSet {
    if (labels.length === 0) return LabelSet.empty;
    if (this.#use === 'while-useful' && this.#isUseless()) return LabelSet.fromSorted(labels);
    // One text is made of all parts at the end: pieces that grow are copied by every collection until then.
    const parts: (string | number)[] = [];
    for (const [name, value] of labels) parts.push(name, '\u0000', value.length, ':', value);
    const key = parts.join('');
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
    // A set that would fill the pool alone is not kept.
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
