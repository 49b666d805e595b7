import { levelNames, normalLevel } from './level-words.js';

const rankByName: ReadonlyMap<string, number> = new Map(levelNames.map((name, rank) => [name, rank]));
const shortestName = Math.min(...levelNames.map((name) => name.length));
const longestName = Math.max(...levelNames.map((name) => name.length));
/** A level word anywhere in the text. Fixed words only, so matching is linear. */
export const levelWord =
  /\b(?:trace|trc|debug|dbg|information|info|inf|warning|warn|wrn|error|err|critical|fatal)\b/i;
const mayHoldPair = /(?:level|severity|severity_?text|lvl)=/i;

/**
 * Finds the level of a line: in the fields of a JSON object, else in logfmt pairs, else the first level word; undefined when there is none.
 */
export function levelFromLine(line: string): string | undefined {
  const isObject = isObjectText(line);
  if (isObject) {
    const field = levelField(line);
    const level = field === undefined ? undefined : normalLevel(field.value);
    // Every known level is also a level word, so the search for words can wait.
    if (level !== undefined) return level;
  }
  const word = levelWord.exec(line);
  // For the same reason, a line without a level word needs no parsing.
  if (word === null) return undefined;
  const pair = !isObject && mayHoldPair.test(line) ? levelPair(line) : undefined;
  return (pair === undefined ? undefined : normalLevel(pair)) ?? normalLevel(word[0]);
}

function isObjectText(line: string): boolean {
  return isObjectStart(line) && line.trimEnd().endsWith('}');
}

/** Whether a line that starts with this text may be a JSON object. */
export function isObjectStart(text: string): boolean {
  return text.trimStart().startsWith('{');
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A field that holds a level; rank 0 takes precedence over every other field. */
export interface LevelField {
  readonly value: string;
  readonly rank: number;
}

/** The top-level field whose name comes first in Loki's list. */
export function levelField(line: string): LevelField | undefined {
  let best: LevelField | undefined;
  let depth = 0;
  // Offsets of the latest top-level key whose value has not been read yet.
  let keyStart = -1;
  let keyEnd = -1;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charCodeAt(at);
    if (character === quote) {
      const end = endOfString(line, at);
      if (end < 0) break;
      if (depth === 1) {
        if (keyStart < 0 && isKey(line, end)) {
          keyStart = at + 1;
          keyEnd = end;
        } else if (keyStart >= 0) {
          const rank = rankOf(line, keyStart, keyEnd);
          if (rank < (best?.rank ?? Infinity)) {
            best = { value: line.slice(at + 1, end), rank };
            if (rank === 0) return best;
          }
          keyStart = -1;
        }
      }
      at = end;
    } else if (character === comma) {
      keyStart = -1;
    } else if (character === openBrace || character === openBracket) {
      depth += 1;
      keyStart = -1;
    } else if (character === closeBrace || character === closeBracket) {
      depth -= 1;
    }
  }
  return best;
}

/** The position of a key in Loki's list; keys of other lengths are not compared. */
function rankOf(line: string, start: number, end: number): number {
  const length = end - start;
  if (length < shortestName || length > longestName) return Infinity;
  return rankByName.get(line.slice(start, end)) ?? Infinity;
}

function endOfString(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line.charCodeAt(at);
    if (character === backslash) at += 1;
    else if (character === quote) return at;
  }
  return -1;
}

function isKey(line: string, end: number): boolean {
  let at = end + 1;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '\n' || line[at] === '\r') at += 1;
  return line[at] === ':';
}

/** The value of the first logfmt pair with a level name; parsing stops where the line is not logfmt. */
export function levelPair(line: string): string | undefined {
  let at = 0;
  while (at < line.length) {
    while (at < line.length && line.charCodeAt(at) <= 32) at += 1;
    const keyStart = at;
    while (at < line.length && line.charCodeAt(at) > 32 && line[at] !== '=' && line[at] !== '"') at += 1;
    if (line[at] === '"') return undefined;
    const key = line.slice(keyStart, at);
    if (line[at] !== '=') continue;
    if (key === '') return undefined;
    at += 1;
    let value: string;
    if (line[at] === '"') {
      const end = endOfString(line, at);
      if (end < 0) return undefined;
      value = line.slice(at + 1, end);
      at = end + 1;
    } else {
      const valueStart = at;
      while (at < line.length && line.charCodeAt(at) > 32 && line[at] !== '=' && line[at] !== '"') at += 1;
      if (line[at] === '=' || line[at] === '"') return undefined;
      value = line.slice(valueStart, at);
    }
    if (rankByName.has(key)) return value;
  }
  return undefined;
}
