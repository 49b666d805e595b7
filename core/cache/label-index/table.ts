import { eachStep, type Steps } from '../../base/pace/steps.js';
import type { Ranked } from '../../wire/answer/rank.js';
import { hashOf } from './hash.js';
import { Texts } from './texts.js';

/** The highest count that is kept. */
export const mostSeen = 0xffff_ffff;
const stepItems = 2_000;

interface Columns {
  /** In order of rank. */
  readonly texts: Texts;
  /** In lower case, for search: the same object where that changes nothing. */
  readonly lower: Texts;
  readonly seen: Uint32Array;
  readonly lastMs: Float64Array;
  /** Ranks plus one by the hash of their value, with open addressing; 0 for none. A power of two. */
  readonly slots: Uint32Array;
}

/** Values in order of rank, in typed arrays: some 50 bytes for each and its text, once more the text where it has capital letters. */
export class RankedTable {
  /** Ranks of values that were there before: they are not found, and are to be hidden. */
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
   * A table of what is picked from another one (its rank) and from new entries (the complement of their place), in this order, which has to
   * be that of rank.
   */
  static *picked(old: RankedTable, picks: Int32Array, added: readonly Ranked[]): Steps<RankedTable> {
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

  /** The rank of a value; -1 for none. */
  find(value: string): number {
    if (this.size === 0) return -1;
    const { texts, slots } = this.#columns;
    const bytes = Buffer.from(value);
    for (let slot = hashOf(bytes, 0, bytes.length); ; slot += 1) {
      const rank = (slots[slot & (slots.length - 1)] ?? 0) - 1;
      if (rank === -1 || texts.is(rank, bytes)) return rank;
    }
  }

  /** The first rank from `from` on, and before `to`, whose value holds these bytes in lower case; -1 for none. */
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

/** False for a value that has a slot. */
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

function* hasCapitals(added: readonly Ranked[]): Steps<boolean> {
  let isFound = false;
  yield* eachStep(added, ({ value }) => (isFound ||= value.toLowerCase() !== value));
  return isFound;
}
