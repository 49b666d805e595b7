/** A value in the queue. */
export interface QueueEntry<Value> {
  readonly value: Value;
}

interface Node<Value> extends QueueEntry<Value> {
  before: Node<Value> | undefined;
  after: Node<Value> | undefined;
  isIn: boolean;
}

/**
 * An insertion-ordered queue from which any entry can be removed in constant time.
 *
 * A Set would do the same, but its outgrown tables are linked to their successors: once one of them is in V8's old space, all later ones,
 * and the values in them, stay alive until the next full collection.
 */
export class LinkedQueue<Value> implements Iterable<QueueEntry<Value>> {
  #first: Node<Value> | undefined;
  #last: Node<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): QueueEntry<Value> | undefined {
    return this.#first;
  }

  add(value: Value): QueueEntry<Value> {
    const node: Node<Value> = { value, before: undefined, after: undefined, isIn: false };
    this.#append(node);
    return node;
  }

  /** Removes an entry; does nothing when it was removed before. */
  remove(entry: QueueEntry<Value>): void {
    const node = entry as Node<Value>;
    if (!node.isIn) return;
    const { before, after } = node;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    [node.before, node.after, node.isIn] = [undefined, undefined, false];
    this.#size -= 1;
  }

  /** Moves an entry to the end. The entry must still be in the queue. */
  moveToEnd(entry: QueueEntry<Value>): void {
    this.remove(entry);
    this.#append(entry as Node<Value>);
  }

  #append(node: Node<Value>): void {
    [node.before, node.after, node.isIn] = [this.#last, undefined, true];
    if (this.#last === undefined) this.#first = node;
    else this.#last.after = node;
    this.#last = node;
    this.#size += 1;
  }

  /** Entries must not be removed during the iteration. */
  *[Symbol.iterator](): Generator<QueueEntry<Value>> {
    for (let node = this.#first; node !== undefined; node = node.after) yield node;
  }
}
