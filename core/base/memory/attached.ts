/**
 * Per-object data that one module keeps for objects of another one, in a property under a private symbol.
 *
 * A WeakMap would do the same, but its table soon moves to V8's old space. From there it keeps all values, and everything they reference,
 * alive until the next full collection, so that the collector copies, marks and sweeps them.
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

/** The same function, which computes the value of each object once. */
export function oncePerObject<Source extends object, Value>(
  derive: (from: Source) => Value,
): (from: Source) => Value {
  const known = new Attached<{ readonly value: Value }>();
  return (from) => {
    const before = known.get(from);
    if (before !== undefined) return before.value;
    const value = derive(from);
    known.set(from, { value });
    return value;
  };
}
