/** An iteration whose first item is asked for at once, while its reader still waits for something else. Whoever makes one ends it, read or not. */
export class Begun<Item> implements AsyncIterable<Item> {
  readonly #items: AsyncIterator<Item>;
  readonly #first: Promise<IteratorResult<Item>>;

  constructor(items: AsyncIterable<Item>) {
    this.#items = items[Symbol.asyncIterator]();
    this.#first = this.#items.next();
    // Its failure is told to the reader, of which there is none when something else fails before.
    this.#first.catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (let item = await this.#first; item.done !== true; item = await this.#items.next()) yield item.value;
  }

  /** Asks for no more; what is on its way is not awaited. */
  end(): void {
    void this.#items.return?.().catch(() => undefined);
  }
}
