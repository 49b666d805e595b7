/** The ordered field names of a row, shared by all rows that carry the same names. */
export interface Shape {
  readonly names: readonly string[];
  /** Position of each name in `names`. */
  readonly index: ReadonlyMap<string, number>;
}

/**
 * Returns one `Shape` per distinct list of names. Rows of one stream mostly have the same names, so sharing them makes a row as small as
 * its values.
 */
export class ShapeTable {
  readonly #shapes = new Map<string, Shape>();

  /** Number of distinct shapes seen so far. */
  get size(): number {
    return this.#shapes.size;
  }

  /** Returns the shape of `names`, which must already be free of duplicates. */
  of(names: readonly string[]): Shape {
    // U+0000 may occur in a name; with the length prefix, two lists never share a key.
    let key = '';
    for (const name of names) key += `${name.length}:${name}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      const own = [...names];
      shape = { names: own, index: new Map(own.map((name, i) => [name, i])) };
      this.#shapes.set(key, shape);
    }
    return shape;
  }
}
