/**
 * A value that several set and of which the last counts, such as the answer to a topic; with its release the one before counts again. So the
 * successor of a plugin overrides it, and leaves it as it was where it could not be started.
 */
export class OverrideStack<Value> {
  #all: { readonly value: Value }[] = [];

  /** Overrides the value. The function that is returned ends that; calling it again does nothing. */
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
