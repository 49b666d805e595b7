import { apiError } from '../../base/errors/table.js';

const quote = 0x22;
const backslash = 0x5c;
const [minus, point, zero, nine] = [0x2d, 0x2e, 0x30, 0x39];

/** Number of digits up to which integers are exact as a double. */
const exactDigits = 15;
const powers = Float64Array.from({ length: exactDigits + 1 }, (_, digits) => 10 ** digits);

/**
 * Reads the answer of `values(field)`, a JSON array of texts, from start to end. Plain decimal numbers are read without creating a string:
 * a group may have a million of them.
 */
export class GatheredValues {
  readonly #array: string;
  /** Position of the opening quote of the next text, or of the closing bracket. */
  #at = 1;
  #isDone: boolean;

  /** @throws ApiError `unexpectedAnswer`, as the methods do */
  constructor(array: string) {
    this.#array = array;
    this.#isDone = array === '[]';
    if (!this.#isDone && !array.startsWith('["')) throw unexpected(array);
  }

  /**
   * Reads numbers into an array, starting at an index, until it is full or a text follows that is not a number.
   * @returns the index after the last number
   */
  numbers(into: Float64Array, from: number): number {
    let count = from;
    while (count < into.length && !this.#isDone) {
      const array = this.#array;
      let at = this.#at + 1;
      const isNegative = array.charCodeAt(at) === minus;
      if (isNegative) at += 1;
      const first = at;
      let mantissa = 0;
      let pointAt = -1;
      for (; ; at += 1) {
        const unit = array.charCodeAt(at);
        if (unit >= zero && unit <= nine) mantissa = mantissa * 10 + (unit - zero);
        else if (unit === point && pointAt < 0 && at > first) pointAt = at;
        else break;
        if (at - first > exactDigits) break;
      }
      const digits = at - first - (pointAt < 0 ? 0 : 1);
      const isPlain = array.charCodeAt(at) === quote && digits > 0 && pointAt !== at - 1;
      if (!isPlain) break;
      // Both are exact, so their quotient is the double nearest to the text.
      const size = pointAt < 0 ? mantissa : mantissa / (powers[at - pointAt - 1] ?? 1);
      into[count] = isNegative ? -size : size;
      count += 1;
      this.#goOn(at + 1);
    }
    return count;
  }

  /** The next text; undefined at the end. */
  text(): string | undefined {
    if (this.#isDone) return undefined;
    const array = this.#array;
    const begin = this.#at;
    let end = begin + 1;
    let hasEscape = false;
    for (; array.charCodeAt(end) !== quote; end += 1) {
      if (end >= array.length) throw unexpected(array.slice(begin));
      if (array.charCodeAt(end) !== backslash) continue;
      hasEscape = true;
      end += 1;
    }
    this.#goOn(end + 1);
    return hasEscape ? unescaped(array.slice(begin, end + 1)) : array.slice(begin + 1, end);
  }

  /** Moves to the next text after the end of one. */
  #goOn(end: number): void {
    const array = this.#array;
    if (array.startsWith(',"', end)) this.#at = end + 1;
    else if (end === array.length - 1 && array.endsWith(']')) this.#isDone = true;
    else throw unexpected(array.slice(this.#at));
  }
}

function unescaped(json: string): string {
  try {
    // Its quotes show that it is a string.
    return JSON.parse(json) as string;
  } catch {
    throw unexpected(json);
  }
}

function unexpected(text: string): Error {
  return apiError('unexpectedAnswer', {
    from: 'values()',
    problem: `not a JSON array of strings: ${JSON.stringify(text.slice(0, 100))}`,
  });
}
