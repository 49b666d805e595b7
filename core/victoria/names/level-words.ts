import {
  hasEscape,
  jsonObject,
  JsonReader,
  jsonString,
  unescapedKey,
} from '../../logql/pipeline/json-value.js';
import { atPair, LogfmtReader } from '../../logql/pipeline/logfmt-reader.js';

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

const quote = 0x22;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

interface Search {
  readonly reader: JsonReader;
  value: string | undefined;
}

/**
 * The value, as written with escapes, of the first field of a JSON object that holds a level: in the order of the text, including nested
 * objects. Undefined if there is none before the object ends or becomes invalid.
 */
export function levelField(text: string): string | undefined {
  const search: Search = { reader: new JsonReader(), value: undefined };
  search.reader.start(text);
  searchObject(search, 0, text.length, 1);
  return search.value;
}

/** Searches an object; returns false if the search is over, because a level was found or the text is invalid. */
function searchObject(search: Search, start: number, end: number, depth: number): boolean {
  const { reader } = search;
  const { line } = reader;
  let at = reader.skipSpace(start, end);
  if (line.charCodeAt(at) !== openBrace) return false;
  at = reader.skipSpace(at + 1, end);
  for (;;) {
    const code = line.charCodeAt(at);
    if (code === closeBrace) return true;
    const keyEnd = code === quote ? reader.stringEnd(at + 1, end) : -1;
    if (keyEnd < 0) return false;
    const isLevel = isLevelName(line, at + 1, keyEnd);
    at = reader.skipSpace(keyEnd + 1, end);
    if (isLevel === undefined || line.charCodeAt(at) !== colon || !reader.read(at + 1, end)) return false;
    const { kind, from, to, next } = reader;
    if (isLevel && kind === jsonString) {
      search.value = line.slice(from, to);
      return false;
    }
    if (kind === jsonObject && depth < maxDepth && !searchObject(search, from, to, depth + 1)) return false;
    at = reader.skipSpace(next, end);
    if (line.charCodeAt(at) === closeBrace) return true;
    if (line.charCodeAt(at) !== comma) return false;
    at = reader.skipSpace(at + 1, end);
  }
}

/** True if a key is in the list; undefined if its escapes are invalid. */
function isLevelName(text: string, start: number, end: number): boolean | undefined {
  if (!hasEscape(text, start, end))
    return mayBeLevelName(text, start, end) && names.has(text.slice(start, end));
  const name = unescapedKey(text.slice(start, end));
  return name === undefined ? undefined : names.has(name);
}

/** Rank of each name in the list, ignoring case; the first of equal names counts. */
const rankByName: ReadonlyMap<string, number> = new Map(
  levelNames.map((name, rank): [string, number] => [name.toLowerCase(), rank]).reverse(),
);

/**
 * The value of the logfmt pair that holds the level, without quotes and escapes: the pair whose name comes first in `levelNames`, ignoring
 * case, and the first of several pairs with that name. The search ends where the text is not logfmt. Returns undefined if no pair has such
 * a name; the text is empty if the pair has no value.
 */
export function levelPair(text: string): string | undefined {
  const reader = new LogfmtReader();
  reader.start(text);
  let value: string | undefined;
  let best = Infinity;
  while (best > 0 && reader.next() === atPair) {
    const rank = rankOf(text, reader.keyFrom, reader.keyTo);
    if (rank >= best) continue;
    best = rank;
    value = reader.unquoted ?? text.slice(reader.valueFrom, reader.valueTo);
  }
  return value;
}

function rankOf(text: string, start: number, end: number): number {
  if (!mayBeLevelName(text, start, end)) return Infinity;
  // The long s is an s when case is ignored.
  const name = text.slice(start, end).toLowerCase().replaceAll('ſ', 's');
  return rankByName.get(name) ?? Infinity;
}
