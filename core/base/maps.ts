/** Adds an item to the list of a key. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Values by key, each made when it is first asked for. All are forgotten when there are too many. */
export class Memo<Key, Value extends NonNullable<unknown>> {
  readonly #most: number;
  readonly #make: (key: Key) => Value;
  readonly #values = new Map<Key, Value>();

  constructor(most: number, make: (key: Key) => Value) {
    this.#most = most;
    this.#make = make;
  }

  get(key: Key): Value {
    let value = this.#values.get(key);
    if (value === undefined) {
      value = this.#make(key);
      if (this.#values.size >= this.#most) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }
}
