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

/**
 * The value of the logfmt pair that holds the level, without quotes and escapes: the pair whose name comes first in `levelNames`, ignoring
 * case, and the first of several pairs with that name. The search ends where the text is not logfmt. Returns undefined if no pair has such
 * a name, or if the pair has no value.
 */
export function levelPair(text: string): string | undefined {
  const search = new PairSearch(text);
  while (search.next());
  return search.value;
}

class PairSearch {
  value: string | undefined;
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
    // The rest is not logfmt.
    if (isBroken || code === quote || (code === equals && at === start)) return false;
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
      if (code === equals || code === quote) return false;
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
    return value !== undefined && this.#take(rank, value);
  }

  /** Handles the end of the text within a key or after a pair. */
  #end(start: number, isBroken: boolean): boolean {
    if (!isBroken) this.#take(this.#rankOf(start, this.#at), undefined);
    return false;
  }

  #take(rank: number, value: string | undefined): boolean {
    if (rank >= this.#rank) return true;
    this.#rank = rank;
    this.value = value;
    return rank > 0;
  }

  #rankOf(start: number, end: number): number {
    if (!mayBeLevelName(this.#text, start, end)) return Infinity;
    // The long s is an s when case is ignored.
    const name = this.#text.slice(start, end).toLowerCase().replaceAll('ſ', 's');
    return rankByName.get(name) ?? Infinity;
  }
}
