/** The ordered field names of a row, shared by all rows that carry the same names. */
export interface Shape {
  readonly names: readonly string[];
  /** Position of each name in `names`. */
  readonly index: ReadonlyMap<string, number>;
}

/**
 * Hands out one `Shape` per distinct list of names. Rows of one stream nearly always look alike, so keeping the names
 * once makes a row as small as its values.
 */
export class ShapeTable {
  readonly #shapes = new Map<string, Shape>();

  /** Number of distinct shapes seen so far. */
  get size(): number {
    return this.#shapes.size;
  }

  /** Returns the shape of `names`, which must already be free of duplicates. */
  of(names: readonly string[]): Shape {
    // U+0000 may stand in a name; the length prefix keeps two lists from ever sharing a key.
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
