import { endOfString, hasEscape } from '../../logql/pipeline/json-value.js';
import { unquoteLogfmt } from '../../logql/pipeline/logfmt-reader.js';
import { levelNames, mayBeLevelName } from './level-words.js';

/** Rank of each name in the list, ignoring case; the first of equal names counts. */
const rankByName: ReadonlyMap<string, number> = new Map(
  levelNames.map((name, rank): [string, number] => [name.toLowerCase(), rank]).reverse(),
);

const space = 0x20;
const quote = 0x22;
const equals = 0x3d;
const replacement = 0xfffd;

/** The logfmt pair that holds a level. */
export interface LevelPair {
  /** Its value without quotes and escapes; undefined if there is no such pair, or no value. */
  readonly value: string | undefined;
  /** True if no continuation of the text could change the result, because no name has precedence, or the text is not logfmt. */
  readonly isFinal: boolean;
}

/**
 * Finds the name that comes first in the list, ignoring case, in the part of the text that is logfmt. Of equal names, the first one counts.
 */
export function levelPair(text: string): LevelPair {
  const search = new PairSearch(text);
  while (search.next());
  return search;
}

class PairSearch implements LevelPair {
  value: string | undefined;
  isFinal = false;
  #at = 0;
  #rank = Infinity;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a pair; false at the end of the search. */
  next(): boolean {
    const text = this.#text;
    let at = this.#at;
    while (at < text.length && text.charCodeAt(at) <= space) at += 1;
    const start = at;
    let code = -1;
    let isBroken = false;
    for (; at < text.length; at += 1) {
      code = text.charCodeAt(at);
      if (code <= space || code === equals || code === quote) break;
      if (code === replacement) isBroken = true;
    }
    this.#at = at;
    if (at === text.length) return this.#end(start, isBroken);
    if (isBroken || code === quote || (code === equals && at === start)) return this.#break();
    const rank = this.#rankOf(start, at);
    return code === equals ? this.#value(rank) : this.#take(rank, undefined);
  }

  /** Reads the value after an equals sign. */
  #value(rank: number): boolean {
    const text = this.#text;
    const start = this.#at + 1;
    if (text.charCodeAt(start) === quote) return this.#quoted(start, rank);
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= space) break;
      if (code === equals || code === quote) return this.#break();
    }
    this.#at = at;
    return this.#take(rank, rank < this.#rank ? text.slice(start, at) : undefined);
  }

  #quoted(start: number, rank: number): boolean {
    const text = this.#text;
    const last = endOfString(text, start, text.length);
    // The closing quote may follow after the end of the text.
    if (last < 0) return false;
    this.#at = last + 1;
    const isEscaped = hasEscape(text, start + 1, last);
    if (!isEscaped && rank >= this.#rank) return true;
    const written = text.slice(start + 1, last);
    const value = isEscaped ? unquoteLogfmt(written) : written;
    return value === undefined ? this.#break() : this.#take(rank, value);
  }

  /** Handles the end of the text within a key or after a pair. */
  #end(start: number, isBroken: boolean): boolean {
    if (!isBroken) this.#take(this.#rankOf(start, this.#at), undefined);
    return false;
  }

  #break(): boolean {
    this.isFinal = true;
    return false;
  }

  #take(rank: number, value: string | undefined): boolean {
    if (rank >= this.#rank) return true;
    this.#rank = rank;
    this.value = value;
    this.isFinal = rank === 0;
    return rank > 0;
  }

  #rankOf(start: number, end: number): number {
    if (!mayBeLevelName(this.#text, start, end)) return Infinity;
    // The long s is an s when case is ignored.
    const name = this.#text.slice(start, end).toLowerCase().replaceAll('ſ', 's');
    return rankByName.get(name) ?? Infinity;
  }
}
