/**
 * What one part of the program keeps for objects of another, for as long as these live: a property under a name of its own.
 *
 * A WeakMap would do the same, but its table soon lies in V8's old space, and from there it keeps all values, and what they know of, until the next
 * full collection, so that the collector copies, marks and sweeps them.
 */
export class Attached<Value> {
  readonly #name = Symbol('attached');

  get(to: object): Value | undefined {
    return (to as Record<symbol, Value | undefined>)[this.#name];
  }

  set(to: object, value: Value): void {
    (to as Record<symbol, Value | undefined>)[this.#name] = value;
  }
}
