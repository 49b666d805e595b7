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

type ScannedKind = 'end' | 'name' | 'number' | 'string' | 'char' | 'symbol';

/** A lexeme of Go's lexical syntax, before it becomes a LogQL token. */
export interface Scanned {
  readonly kind: ScannedKind;
  readonly text: string;
  readonly start: number;
}

type Report = (message: string) => void;

const whiteSpace = new Set([0x20, 0x09, 0x0a, 0x0d]);
const slash = 0x2f;
const star = 0x2a;
const dot = 0x2e;
const backslash = 0x5c;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const backQuote = 0x60;
const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;
const underscore = 0x5f;
const simpleEscapes = new Set(Array.from('abfnrtv\\', (char) => char.charCodeAt(0)));
const hexEscapes = new Map([
  [0x78, 2],
  [0x75, 4],
  [0x55, 8],
]);

/** Reads the next lexeme. White space and Go comments are skipped; errors are reported and reading continues. */
export function scanToken(reader: CharReader, report: Report): Scanned {
  reader.peek();
  reader.forgetLine();
  let afterSpace = false;
  for (;;) {
    while (whiteSpace.has(reader.peek())) {
      reader.step();
      afterSpace = true;
    }
    reader.beginToken();
    const start = reader.offset;
    const kind = scanPiece(reader, report, afterSpace);
    if (kind !== undefined) return { kind, text: reader.slice(start), start };
    afterSpace = true;
  }
}

/** Undefined for a comment. */
function scanPiece(reader: CharReader, report: Report, afterSpace: boolean): ScannedKind | undefined {
  const code = reader.peek();
  if (code === endOfText) return 'end';
  if (startsName(code)) {
    for (let next = reader.step(); startsName(next) || isDigit(next);) next = reader.step();
    return 'name';
  }
  if (isDecimal(code)) {
    scanNumber(reader, report, false, afterSpace);
    return 'number';
  }
  if (code === doubleQuote) {
    scanQuoted(reader, report, code);
    return 'string';
  }
  if (code === backQuote) {
    scanRaw(reader, report);
    return 'string';
  }
  if (code === singleQuote) {
    if (scanQuoted(reader, report, code) !== 1) report('invalid char literal');
    return 'char';
  }
  const next = reader.step();
  if (code === dot && isDecimal(next)) {
    scanNumber(reader, report, true);
    return 'number';
  }
  if (code !== slash || (next !== slash && next !== star)) return 'symbol';
  scanComment(reader, report);
  return undefined;
}

/** A letter or `_`; ASCII is checked first because the pattern is slow. */
function startsName(code: number): boolean {
  if (code >= 0x80) return matches(letter, code);
  const small = code | 0x20;
  return (small >= 0x61 && small <= 0x7a) || code === underscore;
}

function isDigit(code: number): boolean {
  return code < 0x80 ? isDecimal(code) : matches(digit, code);
}

function matches(pattern: RegExp, code: number): boolean {
  return code >= 0 && pattern.test(String.fromCodePoint(code));
}

function scanComment(reader: CharReader, report: Report): void {
  if (reader.peek() === slash) {
    for (let code = reader.step(); code !== lineFeed && code !== endOfText;) code = reader.step();
    return;
  }
  let before = 0;
  for (let code = reader.step(); ; code = reader.step()) {
    if (code === endOfText) {
      report('comment not terminated');
      return;
    }
    if (before === star && code === slash) break;
    before = code;
  }
  reader.step();
}

/** Reads up to the closing quote and returns the number of characters inside. */
function scanQuoted(reader: CharReader, report: Report, quote: number): number {
  let count = 0;
  for (let code = reader.step(); code !== quote; count++) {
    if (code === lineFeed || code === endOfText) {
      report('literal not terminated');
      break;
    }
    code = code === backslash ? scanEscape(reader, report, quote) : reader.step();
  }
  reader.step();
  return count;
}

function scanRaw(reader: CharReader, report: Report): void {
  for (let code = reader.step(); code !== backQuote; code = reader.step()) {
    if (code !== endOfText) continue;
    report('literal not terminated');
    break;
  }
  reader.step();
}

function scanEscape(reader: CharReader, report: Report, quote: number): number {
  const code = reader.step();
  if (simpleEscapes.has(code) || code === quote) return reader.step();
  if (code >= 0x30 && code <= 0x37) return scanEscapeDigits(reader, report, /[0-7]/, 3);
  const count = hexEscapes.get(code);
  if (count === undefined) {
    report('invalid char escape');
    return code;
  }
  reader.step();
  return scanEscapeDigits(reader, report, /[0-9a-fA-F]/, count);
}

function scanEscapeDigits(reader: CharReader, report: Report, digit: RegExp, count: number): number {
  let left = count;
  let code = reader.peek();
  while (left > 0 && matches(digit, code)) {
    code = reader.step();
    left--;
  }
  if (left > 0) report('invalid char escape');
  return code;
}

type Prefix = '' | '0' | 'x' | 'o' | 'b';

const literalNames: Readonly<Record<Prefix, string>> = {
  '': 'decimal literal',
  '0': 'octal literal',
  o: 'octal literal',
  x: 'hexadecimal literal',
  b: 'binary literal',
};

const bases: Readonly<Record<Prefix, number>> = { '': 10, '0': 8, o: 8, x: 16, b: 2 };

interface Digits {
  readonly hasDigit: boolean;
  readonly hasSeparator: boolean;
  readonly invalid: string | undefined;
}

function isDecimal(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Scans a number in Go's syntax and reports errors; the scanned text is still the token. */
function scanNumber(
  reader: CharReader,
  report: (message: string) => void,
  afterDot: boolean,
  afterSpace = false,
): void {
  const start = reader.offset;
  let prefix: Prefix = '';
  let isFloat = afterDot;
  const parts: Digits[] = [];
  if (!afterDot) {
    prefix = scanPrefix(reader, afterSpace);
    parts.push(scanDigits(reader, bases[prefix]));
    if (prefix === '0') parts.push({ hasDigit: true, hasSeparator: false, invalid: undefined });
    if (ahead(reader) === '.') {
      reader.step();
      isFloat = true;
    }
  }
  if (isFloat) {
    if (prefix === 'o' || prefix === 'b') report(`invalid radix point in ${literalNames[prefix]}`);
    parts.push(scanDigits(reader, bases[prefix]));
  }
  if (!parts.some((part) => part.hasDigit)) report(`${literalNames[prefix]} has no digits`);
  const letter = ahead(reader).toLowerCase();
  // Without a hexadecimal prefix, `P` starts a unit instead of an exponent: `5PB`.
  if (letter === 'e' || (letter === 'p' && prefix === 'x')) {
    parts.push(scanExponent(reader, report, prefix));
    isFloat = true;
  } else if (prefix === 'x' && isFloat) {
    report("hexadecimal mantissa requires a 'p' exponent");
  }
  const invalid = parts.find((part) => part.invalid !== undefined)?.invalid;
  if (!isFloat && invalid !== undefined) report(`invalid digit '${invalid}' in ${literalNames[prefix]}`);
  if (parts.some((part) => part.hasSeparator) && hasStraySeparator(reader.slice(start))) {
    report("'_' must separate successive digits");
  }
}

/** After white space or a comment Loki does not recognize a binary literal: it reads the 0, and reports that it has no digits. */
function scanPrefix(reader: CharReader, afterSpace: boolean): Prefix {
  if (ahead(reader) !== '0') return '';
  reader.step();
  const letter = ahead(reader).toLowerCase();
  if (letter === 'b' && afterSpace) return '';
  if (letter !== 'x' && letter !== 'o' && letter !== 'b') return '0';
  reader.step();
  return letter;
}

function scanExponent(reader: CharReader, report: (message: string) => void, prefix: Prefix): Digits {
  const letter = ahead(reader);
  if (letter.toLowerCase() === 'e' && prefix !== '' && prefix !== '0') {
    report(`'${letter}' exponent requires decimal mantissa`);
  }
  reader.step();
  const sign = ahead(reader);
  if (sign === '+' || sign === '-') reader.step();
  const digits = scanDigits(reader, 10);
  if (!digits.hasDigit) report('exponent has no digits');
  return { ...digits, invalid: undefined };
}

function scanDigits(reader: CharReader, base: number): Digits {
  let hasDigit = false;
  let hasSeparator = false;
  let invalid: string | undefined;
  const pattern = base === 16 ? /[0-9a-fA-F_]/ : /[0-9_]/;
  for (let char = ahead(reader); pattern.test(char); char = ahead(reader)) {
    if (char === '_') hasSeparator = true;
    else hasDigit = true;
    if (base < 10 && char >= String(base) && char !== '_') invalid ??= char;
    reader.step();
  }
  return { hasDigit, hasSeparator, invalid };
}

function ahead(reader: CharReader): string {
  const code = reader.peek();
  return code < 0 ? '' : String.fromCodePoint(code);
}

/** A separator must be between two digits; a base prefix counts as a digit. */
function hasStraySeparator(text: string): boolean {
  const digits = text.toLowerCase().replace(/^0[xob]/, '0');
  return /(?:^|[^0-9a-f])_|_(?:$|[^0-9a-f])/.test(digits);
}
