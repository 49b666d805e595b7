import { exceeded, type FormatLimit } from '../exec/limits.js';

/** Collects printed text up to a limit. */
export class Sink {
  text = '';
  readonly #most: number;
  readonly #limit: FormatLimit;

  constructor(most: number, limit: FormatLimit) {
    this.#most = most;
    this.#limit = limit;
  }

  add(piece: string): void {
    this.text += piece;
    if (this.text.length > this.#most) exceeded(this.#limit);
  }
}
