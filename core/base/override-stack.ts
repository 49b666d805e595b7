/**
 * A value with several owners, of which the last claim counts, such as the handler of a topic. Releasing a claim restores the one before,
 * so a plugin's successor can override it, and leaves it intact when it fails to start.
 */
export class OverrideStack<Value> {
  #all: { readonly value: Value }[] = [];

  /** Overrides the value. The returned function releases the claim; calling it again does nothing. */
  claim(value: Value): () => void {
    const claim = { value };
    this.#all.push(claim);
    return () => {
      this.#all = this.#all.filter((other) => other !== claim);
    };
  }

  get current(): Value | undefined {
    return this.#all.at(-1)?.value;
  }
}
