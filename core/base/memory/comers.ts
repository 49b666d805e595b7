/** One of those who have come and not yet gone. */
export interface Comer<Value> {
  readonly value: Value;
}

interface Node<Value> extends Comer<Value> {
  before: Node<Value> | undefined;
  after: Node<Value> | undefined;
  isIn: boolean;
}

/**
 * Those who come and go all the time, in the order in which they came.
 *
 * A Set would do the same, but the tables that it outgrows are linked one to the next: once one of them lies in V8's old space, all later ones, and
 * whoever was in them, are kept until the next full collection.
 */
export class Comers<Value> implements Iterable<Comer<Value>> {
  #first: Node<Value> | undefined;
  #last: Node<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Comer<Value> | undefined {
    return this.#first;
  }

  add(value: Value): Comer<Value> {
    const node: Node<Value> = { value, before: undefined, after: undefined, isIn: false };
    this.#append(node);
    return node;
  }

  /** Lets one go; one that has gone already is no error. */
  remove(comer: Comer<Value>): void {
    const node = comer as Node<Value>;
    if (!node.isIn) return;
    const { before, after } = node;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    [node.before, node.after, node.isIn] = [undefined, undefined, false];
    this.#size -= 1;
  }

  /** As if this one had come last; it must not have gone. */
  moveToEnd(comer: Comer<Value>): void {
    this.remove(comer);
    this.#append(comer as Node<Value>);
  }

  #append(node: Node<Value>): void {
    [node.before, node.after, node.isIn] = [this.#last, undefined, true];
    if (this.#last === undefined) this.#first = node;
    else this.#last.after = node;
    this.#last = node;
    this.#size += 1;
  }

  /** Nobody may go meanwhile. */
  *[Symbol.iterator](): Generator<Comer<Value>> {
    for (let node = this.#first; node !== undefined; node = node.after) yield node;
  }
}
