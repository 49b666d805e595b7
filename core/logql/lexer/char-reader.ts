/** What `peek` and `step` give at the end of the text. */
export const endOfText = -1;

const lineFeed = 0x0a;
const byteOrderMark = 0xfeff;

/**
 * Reads a text by code points, one ahead, and keeps the position that error texts name: the one where the token in
 * hand begins. `skip`, reading by look-ahead, makes its line 0, as Go's scanner does; the column stays.
 */
export class CharReader {
  tokenLine = 0;
  tokenColumn = 0;
  readonly #text: string;
  readonly #report: (message: string) => void;
  #ahead: number | undefined;
  /** Offset of the code point ahead, and of the one after it. */
  #offset = 0;
  #next = 0;
  #line = 1;
  #column = 0;
  #lastLineLength = 0;
  #isPastText = true;

  constructor(text: string, report: (message: string) => void) {
    this.#text = text;
    this.#report = report;
  }

  /** UTF-16 offset of the code point ahead. */
  get offset(): number {
    this.peek();
    return this.#offset;
  }

  slice(start: number): string {
    return this.#text.slice(start, this.offset);
  }

  /** The text from the code point ahead on, for looking further than one. */
  rest(length: number): string {
    return this.#text.slice(this.offset, this.offset + length);
  }

  peek(): number {
    if (this.#ahead === undefined) {
      this.#ahead = this.#read();
      if (this.#ahead === byteOrderMark) this.#ahead = this.#read();
    }
    return this.#ahead;
  }

  /** Goes one code point on and gives the new one ahead. */
  step(): number {
    this.peek();
    this.#ahead = this.#read();
    return this.#ahead;
  }

  /** As `step`, but as look-ahead: the token in hand loses its line. */
  skip(): number {
    this.tokenLine = 0;
    return this.peek() === endOfText ? endOfText : this.step();
  }

  /** Skips the code points of a text that `rest` has shown to be ahead. */
  skipOver(text: string): void {
    for (let left = Array.from(text).length; left > 0; left--) this.skip();
  }

  forgetLine(): void {
    this.tokenLine = 0;
  }

  /** Makes the code point ahead the first one of the token in hand. */
  beginToken(): void {
    this.peek();
    const isFirstOfLine = this.#column === 0;
    this.tokenLine = isFirstOfLine ? this.#line - 1 : this.#line;
    this.tokenColumn = isFirstOfLine ? this.#lastLineLength : this.#column;
  }

  #read(): number {
    this.#offset = this.#next;
    const code = this.#text.codePointAt(this.#next);
    if (code === undefined) {
      if (!this.#isPastText) this.#column++;
      this.#isPastText = true;
      return endOfText;
    }
    this.#next += code > 0xffff ? 2 : 1;
    this.#isPastText = false;
    this.#column++;
    if (code === lineFeed) {
      this.#line++;
      this.#lastLineLength = this.#column;
      this.#column = 0;
    }
    if (code === 0) this.#report('invalid character NUL');
    if (code >= 0xd800 && code <= 0xdfff) this.#report('invalid UTF-8 encoding');
    return code;
  }
}
