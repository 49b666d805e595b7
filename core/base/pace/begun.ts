/** An iteration whose first item is asked for at once, while its reader still waits for something else. Whoever makes one ends it, read or not. */
export class Begun<Item> implements AsyncIterable<Item> {
  readonly #items: AsyncIterator<Item>;
  readonly #first: Promise<IteratorResult<Item>>;

  readonly #stop = new AbortController();

  /** @param begin makes the iteration; its signal ends what is on its way */
  constructor(begin: (signal: AbortSignal) => AsyncIterable<Item>) {
    this.#items = begin(this.#stop.signal)[Symbol.asyncIterator]();
    this.#first = this.#items.next();
    // Its failure is told to the reader, of which there is none when something else fails before.
    this.#first.catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (let item = await this.#first; item.done !== true; item = await this.#items.next()) yield item.value;
  }

  /** Asks for no more, and ends what is on its way. */
  end(): void {
    this.#stop.abort(new Error('ended: nobody reads on'));
    void this.#items.return?.().catch(() => undefined);
  }
}
