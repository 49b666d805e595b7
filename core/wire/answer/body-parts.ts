import type { Steps } from '../../base/pace/steps.js';

/** Characters that are made into bytes at once. */
const flushedLength = 65_536;

/** Parts that are put together in one step: about a megabyte, whose memory the system makes at its first use. */
const stepParts = 16;

/** The text of a body on its way to bytes. Large bodies become bytes bit by bit, so that no text of all of it is ever made. */
export class BodyParts {
  #texts: string[] = [];
  #length = 0;
  readonly #done: Buffer[] = [];

  push(...texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text);
      this.#length += text.length;
    }
  }

  /** Whether it is time to flush. */
  get isFull(): boolean {
    return this.#length >= flushedLength;
  }

  flush(): void {
    this.#done.push(Buffer.from(this.#texts.join(''), 'utf8'));
    this.#texts = [];
    this.#length = 0;
  }

  *bytes(): Steps<Buffer> {
    this.flush();
    const [only, second] = this.#done;
    if (only !== undefined && second === undefined) return only;
    const whole = Buffer.allocUnsafe(this.#done.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const [index, part] of this.#done.entries()) {
      at += part.copy(whole, at);
      if ((index + 1) % stepParts === 0) yield;
    }
    return whole;
  }
}

/** Members that are made into text in one step. */
const stepItems = 500;

/** Adds a JSON array, each item as its text. */
export function* addList<Item>(
  body: BodyParts,
  items: readonly Item[],
  textFor: (item: Item) => string,
): Steps<void> {
  body.push('[');
  for (let from = 0; from < items.length; from += stepItems) {
    const part = items.length <= stepItems ? items : items.slice(from, from + stepItems);
    body.push(from === 0 ? '' : ',', part.map(textFor).join(','));
    if (body.isFull) {
      body.flush();
      yield;
    }
  }
  body.push(']');
}
