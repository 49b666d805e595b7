/** Recognises what came before at the same timestamp, in items that come in the order of time. */
export class Instant<Item> {
  readonly #identityOf: (item: Item) => string;
  readonly #seen = new Set<string>();
  #first: { readonly timestampNs: bigint; readonly item: Item } | undefined;

  constructor(identityOf: (item: Item) => string) {
    this.#identityOf = identityOf;
  }

  isRepeated(timestampNs: bigint, item: Item): boolean {
    const first = this.#first;
    if (first?.timestampNs !== timestampNs) {
      this.#first = { timestampNs, item };
      if (this.#seen.size > 0) this.#seen.clear();
      return false;
    }
    // Most timestamps have one row, so identities are only computed from the second row on.
    if (this.#seen.size === 0) this.#seen.add(this.#identityOf(first.item));
    const identity = this.#identityOf(item);
    if (this.#seen.has(identity)) return true;
    this.#seen.add(identity);
    return false;
  }
}
