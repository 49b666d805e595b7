import { addToHash, hashSeed } from './slot.js';

const space = 0x20;
const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;
const nonAscii = 0x80;

/** States of the reader. */
export const atPair = 0;
export const atFault = 1;
export const atEnd = 2;
type LogfmtToken = typeof atPair | typeof atFault | typeof atEnd;

/**
 * Reads the pairs of a logfmt line one by one. After an error it continues after the next white space, or after the quote that ends an
 * invalid value.
 */
export class LogfmtReader {
  line = '';
  keyFrom = 0;
  keyTo = 0;
  keyHash = 0;
  /** The offsets of the value; equal for an empty one. */
  valueFrom = 0;
  valueTo = 0;
  /** The decoded text of a quoted value with escapes; undefined for other values. */
  unquoted: string | undefined = undefined;
  #at = 0;
  #faultAt = 0;
  #fault = '';

  start(line: string): void {
    this.line = line;
    this.#at = 0;
  }

  /** The current error with its position; bytes are counted from 1. */
  get fault(): string {
    const position = Buffer.byteLength(this.line.slice(0, this.#faultAt)) + 1;
    return `logfmt syntax error at pos ${position} : ${this.#fault}`;
  }

  next(): LogfmtToken {
    const { line } = this;
    const { length } = line;
    let at = this.#at;
    while (at < length && line.charCodeAt(at) <= space) at += 1;
    if (at === length) return atEnd;
    this.keyFrom = at;
    this.unquoted = undefined;
    let hash = hashSeed;
    let isAscii = true;
    for (; at < length; at += 1) {
      const unit = line.charCodeAt(at);
      if (unit <= space || unit === equals) break;
      if (unit === quote) return this.#unexpected(at);
      if (unit >= nonAscii) isAscii = false;
      hash = addToHash(hash, unit);
    }
    this.keyHash = hash;
    this.keyTo = at;
    this.valueFrom = this.valueTo = at;
    if (!isAscii && line.slice(this.keyFrom, at).includes('\ufffd')) return this.#fail('invalid key', at);
    if (line.charCodeAt(at) !== equals) {
      this.#at = at;
      return atPair;
    }
    if (at === this.keyFrom) return this.#unexpected(at);
    return this.#value(at + 1);
  }

  #value(from: number): LogfmtToken {
    const { line } = this;
    const { length } = line;
    if (line.charCodeAt(from) === quote) return this.#quoted(from);
    let at = from;
    for (; at < length; at += 1) {
      const unit = line.charCodeAt(at);
      if (unit <= space) break;
      if (unit === equals || unit === quote) return this.#unexpected(at);
    }
    this.valueFrom = from;
    this.valueTo = at;
    this.#at = at;
    return atPair;
  }

  #quoted(from: number): LogfmtToken {
    const { line } = this;
    const end = this.#quotedEnd(from);
    if (end < 0) return this.#fail('unterminated quoted value', line.length);
    const raw = line.slice(from + 1, end);
    if (raw.includes('\\')) {
      this.unquoted = unquoteLogfmt(raw);
      if (this.unquoted === undefined) return this.#failAndGoOn('invalid quoted value', end + 1, end + 1);
    }
    this.valueFrom = from + 1;
    this.valueTo = end;
    this.#at = end + 1;
    return atPair;
  }

  #quotedEnd(from: number): number {
    const { line } = this;
    for (let at = from + 1; at < line.length; at += 1) {
      const unit = line.charCodeAt(at);
      if (unit === quote) return at;
      if (unit === backslash) at += 1;
    }
    return -1;
  }

  #unexpected(at: number): typeof atFault {
    return this.#fail(`unexpected '${this.line.charAt(at)}'`, at);
  }

  #fail(what: string, at: number): typeof atFault {
    const { line } = this;
    let next = at;
    while (next < line.length && line.charCodeAt(next) > space) next += 1;
    return this.#failAndGoOn(what, at, next);
  }

  #failAndGoOn(what: string, at: number, next: number): typeof atFault {
    this.#faultAt = at;
    this.#fault = what;
    this.#at = next;
    return atFault;
  }
}

const short = new Map<string, string>([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ["'", "'"],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const fourDigits = /^[0-9a-fA-F]{4}$/;

/** The text of a quoted logfmt value without its quotes, or undefined for an invalid escape. */
export function unquoteLogfmt(raw: string): string | undefined {
  let text = '';
  let from = 0;
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', from)) {
    text += raw.slice(from, at);
    const letter = raw.charAt(at + 1);
    if (letter === 'u') {
      const digits = raw.slice(at + 2, at + 6);
      if (!fourDigits.test(digits)) return undefined;
      text += String.fromCharCode(Number.parseInt(digits, 16));
      from = at + 6;
    } else {
      const character = short.get(letter);
      if (character === undefined) return undefined;
      text += character;
      from = at + 2;
    }
  }
  // Unpaired surrogates are not valid characters.
  return (text + raw.slice(from)).replace(/\p{Surrogate}/gu, '\ufffd');
}
