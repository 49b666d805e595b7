/**
 * Yields the results of several pending promises in the order in which they settle.
 *
 * `Promise.race` in a loop would do the same, but each round leaves a reaction at every promise that is still pending: a tail that waits a
 * day for its next row would hold 86,400 of them. Here each promise has one.
 */
export class PromiseQueue<Value> {
  readonly #ended: (() => Value)[] = [];
  #wake: (() => void) | undefined;

  /** Adds a promise. Its rejection is passed to a later `next`, and is never an unhandled rejection. */
  expect(wait: Promise<Value>): void {
    wait.then(
      (value) => this.#arrive(() => value),
      (error: unknown) =>
        this.#arrive(() => {
          throw error;
        }),
    );
  }

  /** The result of the next promise to settle; rejects if that promise did. Only one caller may wait at a time. */
  async next(): Promise<Value> {
    if (this.#ended.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    const first = this.#ended.shift();
    if (first === undefined) throw new Error('two asked for the next arrival at once');
    return first();
  }

  #arrive(end: () => Value): void {
    this.#ended.push(end);
    this.#wake?.();
  }
}
