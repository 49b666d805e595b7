import type { Steps } from '../../base/pace/steps.js';

/** Characters converted to bytes at once. */
const flushedLength = 65_536;

/** Parts joined per step: about a megabyte, because the system allocates pages on first use. */
const stepParts = 16;

/** The text of a body before it becomes bytes. It is flushed in pieces, so that the text of a large body never exists as a whole. */
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

/** Items printed per step. */
const stepItems = 500;

/** Adds a JSON array, with the text of each item. */
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
