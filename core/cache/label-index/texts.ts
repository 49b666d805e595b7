import type { Steps } from '../../base/pace/steps.js';
import type { RankedName } from '../../wire/answer/rank.js';

/** Terminates each value. It never occurs in UTF-8, so a match cannot extend from one value into the next. */
const endByte = 0xff;
const stepItems = 2_000;

/** Texts packed in one buffer, outside the heap that garbage collection walks through. */
export class Texts {
  readonly #bytes: Buffer;
  /** Offset of each value, and the end of the last one. */
  readonly #starts: Uint32Array;

  private constructor(bytes: Buffer, starts: Uint32Array) {
    this.#bytes = bytes;
    this.#starts = starts;
  }

  static readonly none = new Texts(Buffer.alloc(0), new Uint32Array(1));

  /**
   * Values picked from another instance (by index) and from new ones (by the complement of their index), in this order.
   * @param fold maps a new value to the text to store
   */
  static *picked(
    old: Texts,
    picks: Int32Array,
    added: readonly RankedName[],
    fold: (value: string) => string,
  ): Steps<Texts> {
    let size = 0;
    for (let index = 0; index < picks.length; index += 1) {
      const pick = picks[index] ?? 0;
      size += 1 + (pick >= 0 ? old.bytesOf(pick) : Buffer.byteLength(fold(textOf(added, ~pick))));
      if (index % stepItems === 0) yield;
    }
    const bytes = Buffer.allocUnsafeSlow(size);
    const starts = new Uint32Array(picks.length + 1);
    let at = 0;
    for (let index = 0; index < picks.length;) {
      yield;
      const until = Math.min(picks.length, index + stepItems);
      while (index < until) {
        const pick = picks[index] ?? 0;
        starts[index] = at;
        if (pick < 0) {
          at += write(bytes, at, fold(textOf(added, ~pick)));
          bytes[at] = endByte;
          at += 1;
          index += 1;
          continue;
        }
        let count = 1;
        while (index + count < until && picks[index + count] === pick + count) count += 1;
        const from = old.#startOf(pick);
        for (let each = 1; each < count; each += 1)
          starts[index + each] = at + old.#startOf(pick + each) - from;
        at += old.#bytes.copy(bytes, at, from, old.#startOf(pick + count));
        index += count;
      }
    }
    starts[picks.length] = at;
    return new Texts(bytes, starts);
  }

  get byteLength(): number {
    return this.#bytes.byteLength + this.#starts.byteLength;
  }

  bytesOf(index: number): number {
    return this.#startOf(index + 1) - this.#startOf(index) - 1;
  }

  at(index: number): string {
    return this.#bytes.toString('utf8', this.#startOf(index), this.#startOf(index + 1) - 1);
  }

  hashAt(index: number, hash: (bytes: Uint8Array, from: number, to: number) => number): number {
    return hash(this.#bytes, this.#startOf(index), this.#startOf(index + 1) - 1);
  }

  /** Tells whether the value equals these bytes. */
  is(index: number, bytes: Uint8Array): boolean {
    return this.#is(index, bytes, 0, bytes.length);
  }

  /** Tells whether two values are equal. */
  areEqual(a: number, b: number): boolean {
    return this.#is(a, this.#bytes, this.#startOf(b), this.bytesOf(b));
  }

  /** The first value in [from, to) that contains these bytes; -1 if there is none. */
  search(needle: Uint8Array, from: number, to: number): number {
    const begin = this.#startOf(from);
    const found = this.#bytes.subarray(begin, this.#startOf(to)).indexOf(needle);
    if (found === -1) return -1;
    const at = begin + found;
    // Galloping search, since the next match is mostly near.
    let [low, step] = [from, 1];
    while (low + step < to && this.#startOf(low + step) <= at) {
      low += step;
      step *= 2;
    }
    let high = Math.min(to, low + step);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#startOf(middle) <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  #is(index: number, bytes: Uint8Array, from: number, length: number): boolean {
    if (this.bytesOf(index) !== length) return false;
    const own = this.#startOf(index);
    for (let at = 0; at < length; at += 1) if (this.#bytes[own + at] !== bytes[from + at]) return false;
    return true;
  }

  #startOf(index: number): number {
    return this.#starts[index] ?? 0;
  }
}

/**
 * Writes a text and returns its number of bytes. Most values are ASCII, for which a loop is several times faster than a call into Node.js.
 */
function write(bytes: Buffer, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return bytes.write(text, at);
    bytes[at + index] = code;
  }
  return text.length;
}

function textOf(added: readonly RankedName[], index: number): string {
  return added[index]?.value ?? '';
}
