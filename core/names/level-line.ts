import { levelNames, normalLevel } from './level-words.js';

const rankByName: ReadonlyMap<string, number> = new Map(levelNames.map((name, rank) => [name, rank]));
/** A level's word, wherever it stands. Fixed words only, so the run time is linear in the line. */
export const levelWord =
  /\b(?:trace|trc|debug|dbg|information|info|inf|warning|warn|wrn|error|err|critical|fatal)\b/i;
const mayHoldPair = /(?:level|severity|severity_?text|lvl)=/i;

/** Reads the level off a line: a JSON object's fields, else logfmt pairs, else the first level word; undefined when there is none. */
export function levelFromLine(line: string): string | undefined {
  const word = levelWord.exec(line);
  // Every known level is also a word of the line, so a line without one needs no parsing.
  if (word === null) return undefined;
  const value = isObjectText(line) ? levelField(line)?.value : mayHoldPair.test(line) ? levelPair(line) : undefined;
  return (value === undefined ? undefined : normalLevel(value)) ?? normalLevel(word[0]);
}

function isObjectText(line: string): boolean {
  return isObjectStart(line) && line.trimEnd().endsWith('}');
}

/** Whether a line that begins with this text may be a JSON object. */
export function isObjectStart(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/** A field that holds a level; no other one of the object counts more when its rank is 0. */
export interface LevelField {
  readonly value: string;
  readonly rank: number;
}

/** The top-level field whose name comes first in Loki's list. */
export function levelField(line: string): LevelField | undefined {
  let best: LevelField | undefined;
  let depth = 0;
  let key: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at];
    if (character === '{' || character === '[') {
      depth += 1;
      key = undefined;
    } else if (character === '}' || character === ']') {
      depth -= 1;
    } else if (character === '"') {
      const end = endOfString(line, at);
      if (end < 0) break;
      if (depth === 1) {
        if (key === undefined && isKey(line, end)) {
          key = line.slice(at + 1, end);
        } else if (key !== undefined) {
          const rank = rankByName.get(key);
          if (rank !== undefined && (best === undefined || rank < best.rank)) {
            best = { value: line.slice(at + 1, end), rank };
            if (rank === 0) return best;
          }
          key = undefined;
        }
      }
      at = end;
    } else if (character === ',') {
      key = undefined;
    }
  }
  return best;
}

function endOfString(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === '"') return at;
  }
  return -1;
}

function isKey(line: string, end: number): boolean {
  let at = end + 1;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '\n' || line[at] === '\r') at += 1;
  return line[at] === ':';
}

/** The value of the first logfmt pair with a level's name; reading stops where the line is no logfmt. */
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
