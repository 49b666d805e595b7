/** Returned by `peek` and `step` at the end of the text. */
export const endOfText = -1;

const lineFeed = 0x0a;
const byteOrderMark = 0xfeff;
/** Characters that Go's scanner reports, wherever they are. */
const broken = /[\0\ud800-\udfff]/u;

/**
 * Reads a text by code points with one code point of lookahead, and keeps the start of the current token as the position for error texts.
 * `skip` reads as lookahead and sets the line to 0, as Go's scanner does; the column stays.
 */
export class CharReader {
  tokenLine = 0;
  tokenColumn = 0;
  readonly #text: string;
  readonly #report: (message: string) => void;
  /** Offset of the first broken character; later ones cannot be the first error. */
  readonly #firstBroken: number;
  #ahead: number | undefined;
  /** Offsets of the next code point and of the one after it. */
  #offset = 0;
  #next = 0;
  #line = 1;
  #column = 0;
  #lastLineLength = 0;
  #isPastText = true;

  constructor(text: string, report: (message: string) => void) {
    this.#text = text;
    this.#report = report;
    this.#firstBroken = text.search(broken);
  }

  /** UTF-16 offset of the next code point. */
  get offset(): number {
    this.peek();
    return this.#offset;
  }

  slice(start: number): string {
    return this.#text.slice(start, this.offset);
  }

  /** The text from the next code point on, for longer lookahead. */
  rest(length: number): string {
    return this.#text.slice(this.offset, this.offset + length);
  }

  /** Reports a broken character among those up to `length` units ahead, as Loki does wherever it looks that far. */
  inspect(length: number): void {
    const at = this.#firstBroken;
    if (at >= this.#next && at <= this.offset + length) this.#reportBroken(this.#text.charCodeAt(at));
  }

  peek(): number {
    if (this.#ahead === undefined) {
      this.#ahead = this.#read();
      if (this.#ahead === byteOrderMark) this.#ahead = this.#read();
    }
    return this.#ahead;
  }

  /** Advances by one code point and returns the next one. */
  step(): number {
    this.peek();
    this.#ahead = this.#read();
    return this.#ahead;
  }

  /** Like `step`, but as lookahead: the current token loses its line. */
  skip(): number {
    this.tokenLine = 0;
    return this.peek() === endOfText ? endOfText : this.step();
  }

  /** Skips the code points of a text that `rest` has already shown. */
  skipOver(text: string): void {
    for (let left = Array.from(text).length; left > 0; left--) this.skip();
  }

  forgetLine(): void {
    this.tokenLine = 0;
  }

  /** Starts the current token at the next code point. */
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
    if (code === 0 || (code >= 0xd800 && code <= 0xdfff)) this.#reportBroken(code);
    return code;
  }

  #reportBroken(code: number): void {
    this.#report(code === 0 ? 'invalid character NUL' : 'invalid UTF-8 encoding');
  }
}
