import { randomInt } from 'node:crypto';
import { eachStep, type Steps } from '../../base/pace/steps.js';
import type { RankedName } from '../../wire/answer/rank.js';
import { Texts } from './texts.js';

/** The highest count that is stored. */
export const mostSeen = 0xffff_ffff;
const stepItems = 2_000;

interface Columns {
  /** Texts in order of rank. */
  readonly texts: Texts;
  /** The texts in lower case, for search; the same object if there are no capital letters. */
  readonly lower: Texts;
  readonly seen: Uint32Array;
  readonly lastMs: Float64Array;
  /** A hash table with open addressing, from values to their ranks plus one; 0 marks a free slot. Its length is a power of two. */
  readonly slots: Uint32Array;
}

/** Values in order of rank, in typed arrays: some 50 bytes and the text for each value, and the text again if it has capital letters. */
export class RankedTable {
  /** Ranks of duplicates of earlier values: `find` never returns them, and the caller must hide them. */
  readonly repeated: readonly number[];
  readonly #columns: Columns;

  private constructor(columns: Columns, repeated: readonly number[]) {
    this.#columns = columns;
    this.repeated = repeated;
  }

  static readonly empty = new RankedTable(
    {
      texts: Texts.none,
      lower: Texts.none,
      seen: new Uint32Array(0),
      lastMs: new Float64Array(0),
      slots: new Uint32Array(1),
    },
    [],
  );

  /**
   * A table of entries picked from another one (by rank) and from new entries (by the complement of their index). The picks must be in
   * order of rank.
   */
  static *picked(old: RankedTable, picks: Int32Array, added: readonly RankedName[]): Steps<RankedTable> {
    const from = old.#columns;
    const texts = yield* Texts.picked(from.texts, picks, added, (value) => value);
    const lower =
      from.lower === from.texts && !(yield* hasCapitals(added))
        ? texts
        : yield* Texts.picked(from.lower, picks, added, (value) => value.toLowerCase());
    const seen = new Uint32Array(picks.length);
    const lastMs = new Float64Array(picks.length);
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(1 + picks.length * 1.5)));
    const repeated: number[] = [];
    for (let rank = 0; rank < picks.length; rank += 1) {
      const pick = picks[rank] ?? 0;
      const entry = pick < 0 ? added[~pick] : undefined;
      seen[rank] = (entry === undefined ? from.seen[pick] : entry.seen) ?? 0;
      lastMs[rank] = (entry === undefined ? from.lastMs[pick] : entry.lastMs) ?? 0;
      if (!put(slots, texts, rank)) repeated.push(rank);
      if (rank % stepItems === 0) yield;
    }
    return new RankedTable({ texts, lower, seen, lastMs, slots }, repeated);
  }

  get size(): number {
    return this.#columns.seen.length;
  }

  get bytes(): number {
    const { texts, lower, seen, lastMs, slots } = this.#columns;
    const arrays = seen.byteLength + lastMs.byteLength + slots.byteLength;
    return texts.byteLength + (lower === texts ? 0 : lower.byteLength) + arrays;
  }

  /** The rank of a value; -1 if it is not in the table. */
  find(value: string): number {
    if (this.size === 0) return -1;
    const { texts, slots } = this.#columns;
    const bytes = Buffer.from(value);
    for (let slot = hashOf(bytes, 0, bytes.length); ; slot += 1) {
      const rank = (slots[slot & (slots.length - 1)] ?? 0) - 1;
      if (rank === -1 || texts.is(rank, bytes)) return rank;
    }
  }

  /** The first rank in [from, to) whose lower-case value contains these bytes; -1 if there is none. */
  search(needle: Uint8Array, from: number, to: number): number {
    return this.#columns.lower.search(needle, from, to);
  }

  valueAt(rank: number): string {
    return this.#columns.texts.at(rank);
  }

  seenAt(rank: number): number {
    return this.#columns.seen[rank] ?? 0;
  }

  lastMsAt(rank: number): number {
    return this.#columns.lastMs[rank] ?? 0;
  }
}

/** Adds a value to the hash table; false if it is already there. */
function put(slots: Uint32Array, texts: Texts, rank: number): boolean {
  for (let slot = texts.hashAt(rank, hashOf); ; slot += 1) {
    const place = slot & (slots.length - 1);
    const taken = slots[place] ?? 0;
    if (taken === 0) {
      slots[place] = rank + 1;
      return true;
    }
    if (texts.areEqual(taken - 1, rank)) return false;
  }
}

function* hasCapitals(added: readonly RankedName[]): Steps<boolean> {
  let isFound = false;
  yield* eachStep(added, ({ value }) => (isFound ||= value.toLowerCase() !== value));
  return isFound;
}

const [key0, key1] = [randomInt(2 ** 32), randomInt(2 ** 32)];

/** HalfSipHash-1-3 with a random key of this process. Values come from log writers, who could otherwise choose them to collide. */
export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let v0 = key0 | 0;
  let v1 = key1 | 0;
  let v2 = 0x6c796765 ^ key0;
  let v3 = 0x74656462 ^ key1;
  const whole = from + ((to - from) & ~3);
  let rounds = ((to - from) >> 2) + 4;
  for (let at = from; rounds > 0; at += 4, rounds -= 1) {
    let word = 0;
    if (at < whole) word = wordAt(bytes, at, 4);
    else if (at === whole) word = wordAt(bytes, at, to - at) | ((to - from) << 24);
    else if (at === whole + 4) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}

function wordAt(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let index = 0; index < count; index += 1) word |= (bytes[at + index] ?? 0) << (8 * index);
  return word;
}
