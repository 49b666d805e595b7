import type { Steps } from './pace/steps.js';

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const space = 0x20;

/** Characters of the elements that one call of JSON.parse gets, and that are looked at in a step. */
const batchLength = 8 * 1024;

/**
 * Reads a JSON text part by part, so that a large one does not hold up the event loop. Every method reads what comes next.
 * Malformed texts throw an Error.
 */
export class SteppedJson {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads an object; `member` must read the value of each name. */
  *object(member: (name: string) => Steps<void>): Steps<void> {
    this.#take(openBrace);
    for (let isFirst = true; !this.#ends(closeBrace, isFirst); isFirst = false) {
      const name = yield* this.value();
      if (typeof name !== 'string') throw new Error('a member of an object has no name');
      this.#take(colon);
      yield* member(name);
    }
  }

  /** Reads an array, or null as an empty one; `element` must read each element. */
  *array(element: () => Steps<void>): Steps<void> {
    if (yield* this.#isNull()) return;
    this.#take(openBracket);
    for (let isFirst = true; !this.#ends(closeBracket, isFirst); isFirst = false) {
      yield* element();
      yield;
    }
  }

  /** Reads an array, or null as an empty one, and passes on its elements, some at a time. */
  *elements(each: (elements: readonly unknown[]) => void): Steps<void> {
    if (yield* this.#isNull()) return;
    this.#take(openBracket);
    let from = this.#at;
    const pass = (): void => {
      const text = this.#text.slice(from, this.#at);
      // The separator after the elements has been read, and belongs to none of them.
      each(JSON.parse(`[${text.slice(0, -1)}]`) as readonly unknown[]);
      from = this.#at;
    };
    for (let isFirst = true; !this.#ends(closeBracket, isFirst); isFirst = false) {
      if (this.#at - from > batchLength) {
        pass();
        yield;
      }
      yield* this.#skip();
    }
    if (this.#at > from) pass();
  }

  /** Reads a value as a whole. */
  *value(): Steps<unknown> {
    this.#peek();
    const from = this.#at;
    yield* this.#skip();
    return JSON.parse(this.#text.slice(from, this.#at)) as unknown;
  }

  /** @throws Error if anything follows */
  end(): void {
    if (!Number.isNaN(this.#peek())) throw new Error('there is more after the end');
  }

  *#isNull(): Steps<boolean> {
    const next = this.#peek();
    if (next === openBracket) return false;
    const value = yield* this.value();
    if (value !== null) throw new Error('an array is missing');
    return true;
  }

  /** Reads the comma between two members, or the end of all. */
  #ends(sign: number, isFirst: boolean): boolean {
    if (this.#peek() === sign) {
      this.#at += 1;
      return true;
    }
    if (!isFirst) this.#take(comma);
    return false;
  }

  #take(sign: number): void {
    if (this.#peek() !== sign) throw new Error(`${String.fromCharCode(sign)} is missing`);
    this.#at += 1;
  }

  /** The next character that is not white space; NaN at the end. */
  #peek(): number {
    let next = this.#text.charCodeAt(this.#at);
    while (next <= space) next = this.#text.charCodeAt((this.#at += 1));
    return next;
  }

  /** Moves behind the next value. */
  *#skip(): Steps<void> {
    this.#peek();
    let depth = 0;
    let pauseAt = this.#at + batchLength;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const next = this.#text.charCodeAt(this.#at);
      const isSeparator = next === comma || next === colon || next <= space;
      if (depth === 0 && (isSeparator || next === closeBrace || next === closeBracket)) return;
      if (next === quote) this.#at = endOfText(this.#text, this.#at);
      else if (next === openBrace || next === openBracket) depth += 1;
      else if (next === closeBrace || next === closeBracket) depth -= 1;
      else continue;
      if (depth === 0) {
        this.#at += 1;
        return;
      }
      if (this.#at > pauseAt) {
        pauseAt = this.#at + batchLength;
        yield;
      }
    }
  }
}

function endOfText(text: string, begin: number): number {
  const end = closingQuote(text, begin);
  if (end < 0) throw new Error('a text does not end');
  return end;
}

/** The place of the quote that closes the JSON string literal at an offset; -1 if none does. */
function closingQuote(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}
