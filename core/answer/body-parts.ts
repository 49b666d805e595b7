/** Characters that are made into bytes at once. */
const flushedLength = 65_536;

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

  bytes(): Buffer {
    this.flush();
    const [only, second] = this.#done;
    return only !== undefined && second === undefined ? only : Buffer.concat(this.#done);
  }
}
