import { endOfBlock, endOfString, hasEscape, unescapedKey } from '../../logql/pipeline/json-value.js';
import { unquoteLogfmt } from '../../logql/pipeline/logfmt-reader.js';

/** Names of labels, metadata entries and fields of lines that hold a level, in Loki's order (limit `log_level_fields`). */
export const levelNames: readonly string[] = [
  'level',
  'LEVEL',
  'Level',
  'log.level',
  'severity',
  'SEVERITY',
  'Severity',
  'SeverityText',
  'lvl',
  'LVL',
  'Lvl',
  'severity_text',
  'Severity_Text',
  'SEVERITY_TEXT',
];

const shortestName = Math.min(...levelNames.map((name) => name.length));
const longestName = Math.max(...levelNames.map((name) => name.length));

// The long s is an s when case is ignored.
const starts: ReadonlySet<number> = new Set(
  [...levelNames, 'ſ'].flatMap((name) => [
    name.toLowerCase().charCodeAt(0),
    name.toUpperCase().charCodeAt(0),
  ]),
);

/** True if a part of a text may be a name of the list, in any case, so that other texts need not be copied for the lookup. */
function mayBeLevelName(text: string, start: number, end: number): boolean {
  const length = end - start;
  return length >= shortestName && length <= longestName && starts.has(text.charCodeAt(start));
}

const known: ReadonlyMap<string, string> = new Map([
  ['trace', 'trace'],
  ['trc', 'trace'],
  ['debug', 'debug'],
  ['dbg', 'debug'],
  ['info', 'info'],
  ['inf', 'info'],
  ['information', 'info'],
  ['warn', 'warn'],
  ['wrn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['err', 'error'],
  ['critical', 'critical'],
  ['fatal', 'fatal'],
]);

/** The names of all levels. */
export const levels: readonly string[] = [...new Set(known.values())];

/** All level words, in lower case. */
export const levelWords: readonly string[] = [...known.keys()];

/** A word as programs write it: in lower case, with a capital, and in upper case. */
export function usualSpellings(word: string): readonly [string, string, string] {
  return [word, `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, word.toUpperCase()];
}

/** The words for a level, in lower case; empty for an unknown level. */
export function wordsOfLevel(level: string): readonly string[] {
  return [...known].filter(([, name]) => name === level).map(([word]) => word);
}

/** Loki's name for a level word in any case; undefined for any other text. */
export function normalLevel(text: string): string | undefined {
  return text.length > 11 ? undefined : known.get(text.toLowerCase());
}

/** The words that express a level anywhere in a text, in lower case. */
export const spelledLevels: readonly string[] = [
  'trace',
  'debug',
  'fatal',
  'critical',
  'error',
  'err',
  'warning',
  'warn',
  'info',
];

// The characters allowed before a word differ from those allowed after it.
const before = ' \t\n[({"\'=|';
const behind = ' \t\n[](){}:,!"\'=|';
const oneOf = (characters: string): string => `[${characters.replaceAll(/[[\]]/g, '\\$&')}]`;

/**
 * A regular expression whose first match in a text is the level word that decides its level.
 * @param group the start of the group that captures the word, `(` or `(?P<name>`
 */
export function levelWordPattern(group: string, words: string): string {
  return `(?:^|${oneOf(before)})${group}${words})(?:$|${oneOf(behind)})`;
}

// The lowercase of the dotted capital I is an i.
const levelWord = new RegExp(levelWordPattern('(', spelledLevels.join('|').replaceAll('i', '[iİ]')), 'i');

/**
 * The characters around a part of a text: the one before it (`^` at the start) and the one after it (`$` at the end). Undefined if a word
 * at that position would not determine a level.
 */
export function aroundWord(text: string, start: number, end: number): string | undefined {
  const left = start === 0 ? '^' : text.charAt(start - 1);
  const right = end === text.length ? '$' : text.charAt(end);
  const isWord = (start === 0 || before.includes(left)) && (end === text.length || behind.includes(right));
  return isWord ? left + right : undefined;
}

/** The first level word of a text, as written. */
export function spelledLevelWord(text: string): string | undefined {
  return levelWord.exec(text)?.[1];
}

/** The level of the first level word of a text; undefined if there is none. Abbreviations are not recognized. */
export function levelOfWords(text: string): string | undefined {
  const word = spelledLevelWord(text);
  return word === undefined ? undefined : (normalLevel(word) ?? normalLevel(word.replaceAll('İ', 'i')));
}

const names: ReadonlySet<string> = new Set(levelNames);
/** Levels are searched for in the line's object and in the objects directly in it (limit `log_level_from_json_max_depth`). */
const maxDepth = 2;
const literals = ['true', 'false', 'null'];

const quote = 0x22;
const colon = 0x3a;
const comma = 0x2c;
const minus = 0x2d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

interface Search {
  readonly text: string;
  value: string | undefined;
}

/**
 * The value, as written with escapes, of the first field of a JSON object that holds a level: in the order of the text, including nested
 * objects. Undefined if there is none before the object ends or becomes invalid.
 */
export function levelField(text: string): string | undefined {
  const search: Search = { text, value: undefined };
  searchObject(search, 0, text.length, 1);
  return search.value;
}

/** Searches an object; returns false if the search is over, because a level was found or the text is invalid. */
function searchObject(search: Search, start: number, end: number, depth: number): boolean {
  const { text } = search;
  let at = nextToken(text, start, end);
  if (codeAt(text, at, end) !== openBrace) return false;
  at = nextToken(text, at + 1, end);
  for (;;) {
    const code = codeAt(text, at, end);
    if (code === closeBrace) return true;
    if (code !== quote) return false;
    const keyEnd = endOfString(text, at, end);
    if (keyEnd < 0) return false;
    const isLevel = isLevelName(text, at + 1, keyEnd);
    at = nextToken(text, keyEnd + 1, end);
    if (isLevel === undefined || codeAt(text, at, end) !== colon) return false;
    at = searchValue(search, nextToken(text, at + 1, end), end, depth, isLevel);
    if (at < 0) return false;
    at = nextToken(text, at, end);
    const separator = codeAt(text, at, end);
    if (separator === closeBrace) return true;
    if (separator !== comma) return false;
    at = nextToken(text, at + 1, end);
  }
}

/** Reads a value and returns its end; negative if the search is over. */
function searchValue(search: Search, at: number, end: number, depth: number, isLevel: boolean): number {
  const { text } = search;
  const code = codeAt(text, at, end);
  if (code === quote) {
    const last = endOfString(text, at, end);
    if (last >= 0 && isLevel) search.value = text.slice(at + 1, last);
    return last < 0 || isLevel ? -1 : last + 1;
  }
  if (code === openBracket) return endOfBlock(text, at, end, openBracket, closeBracket);
  if (code === openBrace) {
    const after = endOfBlock(text, at, end, openBrace, closeBrace);
    return after < 0 || depth === maxDepth || searchObject(search, at, after, depth + 1) ? after : -1;
  }
  const after = endOfScalar(text, at, end);
  return isScalar(text, at, after, code) ? after : -1;
}

/** True for a scalar; only the start of a number is checked. */
function isScalar(text: string, start: number, end: number, code: number): boolean {
  if ((code >= 0x30 && code <= 0x39) || code === minus) return true;
  return literals.some((literal) => start + literal.length === end && text.startsWith(literal, start));
}

/** True if a key is in the list; undefined if its escapes are invalid. */
function isLevelName(text: string, start: number, end: number): boolean | undefined {
  if (!hasEscape(text, start, end))
    return mayBeLevelName(text, start, end) && names.has(text.slice(start, end));
  const name = unescapedKey(text.slice(start, end));
  return name === undefined ? undefined : names.has(name);
}

/** The next position that is not whitespace. */
function nextToken(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function codeAt(text: string, at: number, end: number): number {
  return at < end ? text.charCodeAt(at) : -1;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function endOfScalar(text: string, start: number, end: number): number {
  let at = start;
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (isSpace(code) || code === comma || code === closeBrace || code === closeBracket) break;
  }
  return at;
}

/** Rank of each name in the list, ignoring case; the first of equal names counts. */
const rankByName: ReadonlyMap<string, number> = new Map(
  levelNames.map((name, rank): [string, number] => [name.toLowerCase(), rank]).reverse(),
);

const space = 0x20;
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
