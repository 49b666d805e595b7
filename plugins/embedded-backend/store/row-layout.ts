import { ofKey } from '../../../core/base/memory/byte-lru.js';

/** The ordered field names of a row, shared by all rows with the same names. */
export interface RowLayout {
  readonly names: readonly string[];
  /** Position of each name in `names`. */
  readonly index: ReadonlyMap<string, number>;
}

/**
 * Returns one `RowLayout` per distinct list of names. Rows of one stream mostly have the same names, and sharing them reduces a row to its
 * values.
 */
export class LayoutTable {
  readonly #layouts = new Map<string, RowLayout>();

  /** Number of distinct layouts seen so far. */
  get size(): number {
    return this.#layouts.size;
  }

  /** Returns the layout of `names`, which must not contain duplicates. */
  of(names: readonly string[]): RowLayout {
    // U+0000 may occur in a name; with the length prefix, two lists never share a key.
    let key = '';
    for (const name of names) key += `${name.length}:${name}`;
    return ofKey(this.#layouts, key, () => ({
      names: [...names],
      index: new Map(names.map((name, i) => [name, i])),
    }));
  }
}
