/** Characters of single-letter escapes; `u` is followed by four digits instead. */
const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const fourDigits = /^[0-9a-fA-F]{4}$/;

/** The text of a JSON string without its quotes, or undefined for an invalid escape. */
export function unescapeJson(raw: string): string | undefined {
  let at = raw.indexOf('\\');
  if (at < 0) return raw;
  let text = '';
  let from = 0;
  while (at >= 0) {
    text += raw.slice(from, at);
    const letter = raw.charAt(at + 1);
    if (letter === 'u') {
      const unit = readUnit(raw, at);
      if (unit === undefined) return undefined;
      const low = isSurrogate(unit) ? readLow(raw, at + 6) : undefined;
      if (isSurrogate(unit) && low === undefined) return undefined;
      text += low === undefined ? String.fromCharCode(unit) : combine(unit, low);
      from = at + (low === undefined ? 6 : 12);
    } else {
      const character = shortEscapes.get(letter);
      if (character === undefined) return undefined;
      text += character;
      from = at + 2;
    }
    at = raw.indexOf('\\', from);
  }
  return text + raw.slice(from);
}

/** A label's value from a part of a line: empty for an invalid escape, with a space for each invalid character. */
export function readJsonText(source: string, from: number, to: number): string {
  return withoutInvalid(unescapeJson(source.slice(from, to)) ?? '');
}

/** The text with a space for each invalid character. */
export function withoutInvalid(text: string): string {
  return text.includes('\ufffd') ? text.replaceAll('\ufffd', ' ') : text;
}

function readUnit(raw: string, at: number): number | undefined {
  const digits = raw.slice(at + 2, at + 6);
  return fourDigits.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function readLow(raw: string, at: number): number | undefined {
  if (raw.charAt(at) !== '\\' || raw.charAt(at + 1) !== 'u') return undefined;
  const unit = readUnit(raw, at);
  return unit !== undefined && unit >= 0xdc00 ? unit : undefined;
}

/** The halves of a surrogate pair are not checked; an invalid result becomes U+FFFD. */
function combine(high: number, low: number): string {
  const code = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

/** Kinds of JSON values. */
export const jsonString = 1;
export const jsonNumber = 2;
export const jsonBoolean = 3;
export const jsonNull = 4;
export const jsonObject = 5;
export const jsonArray = 6;
type JsonKind = 1 | 2 | 3 | 4 | 5 | 6;

/** The error of `| json` and `| unpack`. */
export const jsonError = 'JSONParserErr';

/** Nanoseconds per character: in the worst case it is read again at every depth, or every few characters are a separate label. */
export const jsonCost = 250;

/** Texts for invalid JSON in `__error_details__`; their conditions follow Loki. */
export const jsonFaults = {
  json: 'Malformed JSON error',
  object: "Value looks like object, but can't find closing '}' symbol",
  array: "Value is array, but can't find closing ']' symbol",
  string: "Value is string, but can't find closing '\"' symbol",
  value: 'Unknown value type',
  escape: 'Encountered an invalid escape sequence in a string',
} as const;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/**
 * Locates values in a line without decoding them: `kind`, the offsets `from` and `to` (of a string without its quotes), and `next`, where
 * reading continues. It is as lenient as Loki: it only checks as much as finding the end of a value needs.
 */
export class JsonReader {
  line = '';
  kind: JsonKind = jsonNull;
  from = 0;
  to = 0;
  next = 0;
  /** Set when a value cannot be read. */
  fault = '';
  /** The first backslash at or after `#searchedFrom`; the line's length if there is none. */
  #backslash = 0;
  #searchedFrom = 0;

  start(line: string): void {
    this.line = line;
    this.#backslash = -1;
    this.#searchedFrom = 0;
  }

  /** The first offset before the limit that is not white space, or -1. */
  skipSpace(at: number, limit: number): number {
    const { line } = this;
    for (let place = at; place < limit; place += 1) {
      const unit = line.charCodeAt(place);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return place;
    }
    return -1;
  }

  /** The offset of the quote that ends the string starting at `from`, or -1. */
  stringEnd(from: number, limit: number): number {
    const { line } = this;
    let end = line.indexOf('"', from);
    if (end >= 0 && this.hasBackslash(from, end)) end = this.#escapedEnd(from, end);
    return end < limit ? end : -1;
  }

  hasBackslash(from: number, to: number): boolean {
    if (this.#backslash < from || from < this.#searchedFrom) {
      const found = this.line.indexOf('\\', from);
      this.#backslash = found < 0 ? this.line.length : found;
      this.#searchedFrom = from;
    }
    return this.#backslash < to;
  }

  #escapedEnd(from: number, firstQuote: number): number {
    const { line } = this;
    for (let end = firstQuote; end >= 0; end = line.indexOf('"', end + 1)) {
      let before = end;
      while (before > from && line.charCodeAt(before - 1) === backslash) before -= 1;
      if ((end - before) % 2 === 0) return end;
    }
    return -1;
  }

  /** The offset after the block that starts here, or -1; counts only brackets of its own kind and skips strings. */
  blockEnd(at: number, limit: number, open: number, close: number): number {
    const { line } = this;
    let level = 0;
    for (let place = at; place < limit; place += 1) {
      const unit = line.charCodeAt(place);
      if (unit === quote) {
        place = this.stringEnd(place + 1, limit);
        if (place < 0) return -1;
      } else if (unit === open) level += 1;
      else if (unit === close) {
        level -= 1;
        if (level === 0) return place + 1;
      }
    }
    return -1;
  }

  /** Reads the value at or after an offset; false sets `fault`. Objects are not entered: see `endObject`. */
  read(at: number, limit: number): boolean {
    const start = this.skipSpace(at, limit);
    if (start < 0) return this.#fail(jsonFaults.json);
    switch (this.line.charCodeAt(start)) {
      case quote: {
        const end = this.stringEnd(start + 1, limit);
        if (end < 0) return this.#fail(jsonFaults.string);
        return this.#found(jsonString, start + 1, end, end + 1);
      }
      case openBrace: {
        const end = this.blockEnd(start, limit, openBrace, closeBrace);
        if (end < 0) return this.#fail(jsonFaults.object);
        return this.#found(jsonObject, start, end, end);
      }
      case openBracket: {
        const end = this.blockEnd(start, limit, openBracket, closeBracket);
        if (end < 0) return this.#fail(jsonFaults.array);
        return this.#found(jsonArray, start, end, end);
      }
      default:
        return this.#readToken(start, limit);
    }
  }

  /** Sets the current value to a part of the line. */
  place(kind: JsonKind, from: number, to: number): void {
    this.#found(kind, from, to, to);
  }

  #readToken(start: number, limit: number): boolean {
    const { line } = this;
    let end = start;
    while (end < limit && !endsToken(line.charCodeAt(end))) end += 1;
    const first = line.charCodeAt(start);
    if ((first >= 0x30 && first <= 0x39) || first === 0x2d) return this.#found(jsonNumber, start, end, end);
    const length = end - start;
    if (length === 4 && line.startsWith('true', start)) return this.#found(jsonBoolean, start, end, end);
    if (length === 5 && line.startsWith('false', start)) return this.#found(jsonBoolean, start, end, end);
    if (length === 4 && line.startsWith('null', start)) return this.#found(jsonNull, start, end, end);
    return this.#fail(jsonFaults.value);
  }

  #found(kind: JsonKind, from: number, to: number, next: number): true {
    this.kind = kind;
    this.from = from;
    this.to = to;
    this.next = next;
    return true;
  }

  #fail(fault: string): false {
    this.fault = fault;
    return false;
  }
}

function endsToken(unit: number): boolean {
  return (
    unit === comma ||
    unit === closeBrace ||
    unit === closeBracket ||
    unit === 0x20 ||
    unit === 0x0a ||
    unit === 0x0d ||
    unit === 0x09
  );
}

/** The closing quote of the string that starts at a quote; -1 when there is none before the end. */
export function endOfString(text: string, start: number, end: number): number {
  // Most strings are short: indexOf would take longer.
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return -1;
}

/** The end of a block of brackets, skipping strings in it; -1 if it is not closed. Other kinds of brackets are ignored. */
export function endOfBlock(text: string, start: number, end: number, open: number, close: number): number {
  let depth = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at, end);
      if (at < 0) return -1;
    } else if (code === open) {
      depth += 1;
    } else if (code === close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** True when a part of the text has a backslash. */
export function hasEscape(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === backslash) return true;
  return false;
}

/**
 * A key without its escapes, as Loki's distributor and pattern ingester decode it; undefined for an invalid escape. Unlike its `json` stage
 * (`unescapeJson`), they accept half of a surrogate pair.
 */
export function unescapedKey(text: string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    const escape = text.charAt(at + 1);
    parts.push(text.slice(from, at));
    const unit = escape === 'u' ? readUnit(text, at) : undefined;
    const meant = unit === undefined ? shortEscapes.get(escape) : String.fromCharCode(unit);
    if (meant === undefined) return undefined;
    parts.push(meant);
    from = at + (unit === undefined ? 2 : 6);
  }
  return parts.join('') + text.slice(from);
}
