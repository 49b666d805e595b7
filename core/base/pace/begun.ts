/**
 * An iteration that requests its first item immediately, before its reader starts. The creator must call `end`, whether it was read or not.
 */
export class Begun<Item> implements AsyncIterable<Item> {
  readonly #items: AsyncIterator<Item>;
  readonly #first: Promise<IteratorResult<Item>>;

  readonly #stop = new AbortController();

  /** @param begin creates the iteration; its signal cancels running requests */
  constructor(begin: (signal: AbortSignal) => AsyncIterable<Item>) {
    this.#items = begin(this.#stop.signal)[Symbol.asyncIterator]();
    this.#first = this.#items.next();
    // A reader sees the failure. If there is none, because something else failed first, it must not be an unhandled rejection.
    this.#first.catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (let item = await this.#first; item.done !== true; item = await this.#items.next()) yield item.value;
  }

  /** Stops the iteration and cancels running requests. */
  end(): void {
    this.#stop.abort(new Error('cancelled: the reader has stopped'));
    void this.#items.return?.().catch(() => undefined);
  }
}
