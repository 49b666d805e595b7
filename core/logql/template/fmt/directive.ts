import { exceeded, type FormatLimit } from '../exec/limits.js';

/** One `%...` of a format, without its verb. */
export interface Directive {
  plus: boolean;
  minus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  width: number | undefined;
  precision: number | undefined;
  /** `%#v` and `%+v`: the flag then only means Go syntax or field names. */
  sharpV: boolean;
  plusV: boolean;
}

export function newDirective(): Directive {
  return {
    plus: false,
    minus: false,
    sharp: false,
    space: false,
    zero: false,
    width: undefined,
    precision: undefined,
    sharpV: false,
    plusV: false,
  };
}

/** The directive of a plain `%v`, which print and println use. */
export const plainDirective: Readonly<Directive> = Object.freeze(newDirective());

/** Pads to the width in characters; zeros are only added on the left. */
export function pad(text: string, { width, minus, zero }: Readonly<Directive>, isZeroAllowed = true): string {
  if (width === undefined || width === 0) return text;
  const missing = width - characterCount(text);
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero && isZeroAllowed ? '0' : ' ').repeat(missing) + text;
}

/** As in Go, an invalid UTF-8 byte counts as one character. */
function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next <= 0xdfff) count--;
  }
  return count;
}

/** The first `count` characters. */
export function truncate(text: string, count: number | undefined): string {
  if (count === undefined || text.length <= count) return text;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, at);
}

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
