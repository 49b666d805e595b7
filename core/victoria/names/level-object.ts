import { endOfBlock, endOfString, hasEscape, unescapedKey } from '../../logql/pipeline/json-value.js';
import { levelNames, mayBeLevelName } from './level-words.js';

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
