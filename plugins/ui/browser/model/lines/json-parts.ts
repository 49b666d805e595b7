/** The keys and indexes that lead to a value. */
export type JsonPath = readonly (string | number)[];

/** An answer that cannot be read; the message says why, and what to do. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

interface Frame {
  readonly isArray: boolean;
  /** The key or index of the value that is read or comes next. */
  key: string | number;
  /** True in an object whose next value has its key already. */
  hasKey: boolean;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const space = 0x20;

/** Maximum length of one value that is passed on as a whole, and of the whole text, in characters. */
const maxValue = 32 * 1024 * 1024;
const maxText = 256 * 1024 * 1024;

/** Reads a JSON text while it arrives: containers that `opens` accepts are entered, and any other value is passed on as a whole. */
export class JsonParts {
  readonly #opens: (path: JsonPath) => boolean;
  readonly #value: (path: JsonPath, value: unknown) => void;
  readonly #frames: Frame[] = [];
  #text = '';
  #at = 0;
  #length = 0;
  #hasEnded = false;
  /** The state of the search for the end of a value, from `#at` on. */
  #searched = 0;
  #depth = 0;
  #isInText = false;

  constructor(opens: (path: JsonPath) => boolean, value: (path: JsonPath, value: unknown) => void) {
    this.#opens = opens;
    this.#value = value;
  }

  /** Takes the next piece; pauses after each value, so that its caller can let others run. */
  *push(piece: string): Generator<void> {
    this.#length += piece.length;
    if (this.#length > maxText)
      throw new AnswerError(
        `The answer has more than ${maxText / 2 ** 20} MB, the most that this page reads: lower the limit or narrow the query.`,
      );
    this.#text = this.#text.slice(this.#at) + piece;
    this.#at = 0;
    while (this.#step()) yield;
    if (this.#text.length - this.#at > maxValue)
      throw new AnswerError(
        `An entry of the answer has more than ${maxValue / 2 ** 20} MB, the most that this page reads: narrow the query.`,
      );
  }

  /** Must be called after the last piece: fails if the text is not complete. */
  end(): void {
    if (!this.#hasEnded)
      throw new AnswerError('The answer of the proxy ended too early. Run the query again.');
  }

  /** Reads one value, or enters or leaves a container; false if that needs more text. */
  #step(): boolean {
    const code = this.#skip();
    if (code === undefined || this.#hasEnded) return false;
    const frame = this.#frames.at(-1);
    if (code === closeBrace || code === closeBracket) return this.#leave();
    if (frame !== undefined && !frame.isArray && !frame.hasKey) return this.#key(frame);
    if ((code === openBrace || code === openBracket) && this.#searched === 0 && this.#opens(this.#path())) {
      this.#at += 1;
      const isArray = code === openBracket;
      this.#frames.push({ isArray, key: isArray ? 0 : '', hasKey: false });
      return true;
    }
    const end = this.#end(code);
    if (end === undefined) return false;
    const value: unknown = JSON.parse(this.#text.slice(this.#at, end));
    this.#value(this.#path(), value);
    this.#at = end;
    this.#next();
    return true;
  }

  #path(): JsonPath {
    return this.#frames.map(({ key }) => key);
  }

  /** Skips white space and separators; the code of what follows. */
  #skip(): number | undefined {
    const text = this.#text;
    for (; this.#at < text.length; this.#at += 1) {
      const code = text.charCodeAt(this.#at);
      if (code > space && code !== comma && code !== colon) return code;
    }
    return undefined;
  }

  #leave(): boolean {
    if (this.#frames.pop() === undefined) throw new AnswerError('The answer of the proxy is not JSON.');
    this.#at += 1;
    this.#next();
    return true;
  }

  /** Goes on after a value. */
  #next(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) this.#hasEnded = true;
    else if (typeof frame.key === 'number') frame.key += 1;
    else frame.hasKey = false;
  }

  #key(frame: Frame): boolean {
    const end = this.#end(quote);
    if (end === undefined) return false;
    const key: unknown = JSON.parse(this.#text.slice(this.#at, end));
    frame.key = String(key);
    frame.hasKey = true;
    this.#at = end;
    return true;
  }

  /** The offset after the value that starts with a character; undefined if more text is needed. */
  #end(first: number): number | undefined {
    const isContainer = first === openBrace || first === openBracket;
    const end = isContainer || first === quote ? this.#endOfBlock() : this.#endOfWord();
    if (end !== undefined) [this.#searched, this.#depth, this.#isInText] = [0, 0, false];
    return end;
  }

  #endOfBlock(): number | undefined {
    const text = this.#text;
    let depth = this.#depth;
    let isInText = this.#isInText;
    let at = this.#at + this.#searched;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isInText) {
        if (code === backslash) {
          // The escaped character must be there too.
          if (at + 1 >= text.length) break;
          at += 1;
        } else if (code === quote) {
          isInText = false;
          if (depth === 0) return at + 1;
        }
      } else if (code === quote) isInText = true;
      else if (code === openBrace || code === openBracket) depth += 1;
      else if (code === closeBrace || code === closeBracket) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    [this.#searched, this.#depth, this.#isInText] = [at - this.#at, depth, isInText];
    return undefined;
  }

  #endOfWord(): number | undefined {
    const text = this.#text;
    for (let at = this.#at; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= space || code === comma || code === closeBrace || code === closeBracket) return at;
    }
    return undefined;
  }
}
