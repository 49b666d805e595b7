/**
 * Something that one of several says at a time, such as what a topic is answered: the one who claimed it last counts, and with its release
 * the one before counts again. So the successor of a plugin takes its place, and gives it back where it could not be started.
 */
export class Claims<Value> {
  #all: { readonly value: Value }[] = [];

  /** Returns what gives the claim up; calling it again does nothing. */
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
