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
export function mayBeLevelName(text: string, start: number, end: number): boolean {
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
