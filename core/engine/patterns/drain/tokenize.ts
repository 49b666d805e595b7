import { compileRegExp } from '../../../logql/regexp/index.js';
import { atFault, atPair, LogfmtReader } from '../../../logql/pipeline/logfmt-reader.js';
import { endOfBlock, endOfString, unescapedKey } from '../../../logql/pipeline/json-value.js';

/** The format that is assumed for all lines of a stream. */
export type LineFormat = 'text' | 'logfmt' | 'json';

/** A line split into tokens, and the way to join a pattern of it again. Tokens are strings of bytes: one character for each UTF-8 byte. */
export interface TokenizedLine {
  readonly tokens: readonly string[];
  /** Joins tokens to a text; the same for all lines of one format. Empty if they cannot be shown. */
  readonly join: (tokens: readonly string[]) => string;
  /** Lines of different formats never share a pattern. */
  readonly format: LineFormat;
}

/** Stands for text that differs between lines. */
export const placeholder = '<_>';

/** Minimum number of tokens of a line with a pattern. */
const minTokens = 4;
const maxTokens = 80;
/** Maximum length of a text with a pattern. */
const maxTextBytes = 3000;

const beyondAscii = /[^\u0000-\u007f]/;

function bytesOf(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

export function tokenText(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}

const pair = '\\w+=(?:[^"]\\S*|".+")';
const onlyPairs = compileRegExp(`^(?:${pair} )*(?:${pair})+$`);

/** The format of a stream, determined by its first line. */
export function formatOf(firstLine: string): LineFormat {
  if (firstLine.length < 2) return 'text';
  if (firstLine.startsWith('{') && firstLine.endsWith('}')) return 'json';
  return onlyPairs.test(firstLine) ? 'logfmt' : 'text';
}

/** Splits a line into tokens; undefined for a line without a pattern. */
export function tokenize(line: string, format: LineFormat): TokenizedLine | undefined {
  const tokenized = byFormat(line, format);
  const count = tokenized?.tokens.length ?? 0;
  return count < minTokens || count > maxTokens ? undefined : tokenized;
}

function byFormat(line: string, format: LineFormat): TokenizedLine | undefined {
  switch (format) {
    case 'text':
      return isTooLong(line) ? undefined : tokenizeText(line);
    case 'logfmt':
      return isTooLong(line) ? undefined : tokenizeLogfmt(line);
    case 'json':
      return tokenizeJson(line);
  }
}

/** Tokenizes the message of a JSON line; the rest differs from line to line. */
function tokenizeJson(line: string): TokenizedLine | undefined {
  const message = jsonMessage(line);
  const tokenized = message === undefined || isTooLong(message) ? undefined : tokenizeText(message);
  if (tokenized === undefined) return undefined;
  const { tokens, join } = tokenized;
  return { tokens, join: (parts) => placeholder + join(parts) + placeholder, format: 'json' };
}

function isTooLong(text: string): boolean {
  return text.length > maxTextBytes || Buffer.byteLength(text) > maxTextBytes;
}

/** Keys whose values differ in every line. */
const variable = /^(?:ts|t|traceid|time|timestamp)$/i;
const notInKey = /[\u0000- ="\u007f\ufffd]/g;
const quotedValue = /[\u0000- ="\u007f\ufffd]/;
const escapedInQuotes = /[\u0000-\u001f"\\\u007f\ufffd]/g;
const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Alternating keys and values; a key without a value has an empty one. Undefined if the line is not logfmt throughout. */
function tokenizeLogfmt(line: string): TokenizedLine | undefined {
  const tokens: string[] = [];
  const reader = new LogfmtReader();
  reader.start(line);
  let token = reader.next();
  for (; token === atPair; token = reader.next()) {
    const key = line.slice(reader.keyFrom, reader.keyTo);
    const value = reader.unquoted ?? line.slice(reader.valueFrom, reader.valueTo);
    tokens.push(bytesOf(key), isVariable(key) ? placeholder : bytesOf(value));
    if (tokens.length > maxTokens) return undefined;
  }
  return token === atFault ? undefined : { tokens, join: joinPairs, format: 'logfmt' };
}

function isVariable(key: string): boolean {
  return key !== 'T' && variable.test(key);
}

/** Joins pairs in the form of a logfmt encoder; empty if one has no key. */
function joinPairs(tokens: readonly string[]): string {
  const pairs: string[] = [];
  for (let index = 0; index < tokens.length; index += 2) {
    const key = tokenText(tokens[index] ?? '').replace(notInKey, '');
    if (key === '') return '';
    pairs.push(`${key}=${encoded(tokenText(tokens[index + 1] ?? ''))}`);
  }
  return pairs.join(' ');
}

function encoded(value: string): string {
  if (!quotedValue.test(value)) return value;
  return `"${value.replace(escapedInQuotes, (sign) => shortEscapes.get(sign) ?? hexEscape(sign))}"`;
}

function hexEscape(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Characters that are part of tokens although Unicode considers them punctuation. */
const inToken: ReadonlySet<string> = new Set(['_', '-', '.', ':', '/']);
/** A character that is a separate token although Unicode does not consider it punctuation. */
const equals = '=';
const punctuation = /\p{P}/u;

/**
 * Splits text at blanks and punctuation. Each punctuation character is a separate token, except those inside names, addresses, times and
 * paths (docs/protocol/answers.md#patterns). Undefined if there are too many tokens.
 */
export function tokenizeText(text: string): TokenizedLine | undefined {
  const bytes = bytesOf(text);
  const tokens: string[] = [];
  const blanks: number[] = [];
  let leading = 0;
  const push = (from: number, to: number): void => {
    if (to > from) blanks[tokens.push(bytes.slice(from, to)) - 1] = 0;
  };
  let [start, at] = [0, 0];
  for (const sign of text) {
    if (isBorder(sign)) {
      push(start, at);
      start = at + 1;
      // Of a multi-byte character only the first byte is the token, as in Loki; the other bytes start the next one.
      if (sign !== ' ') push(at, start);
      else if (tokens.length === 0) leading += 1;
      else blanks[tokens.length - 1] = (blanks[tokens.length - 1] ?? 0) + 1;
      if (tokens.length > maxTokens) return undefined;
    }
    at += bytes.length === text.length ? 1 : Buffer.byteLength(sign);
  }
  push(start, bytes.length);
  // Loki loses all blanks of a text that starts with one.
  const joinParts = (parts: readonly string[]): string =>
    leading > 0 ? parts.join('') : parts.map((part, index) => part + ' '.repeat(blanks[index] ?? 0)).join('');
  return { tokens, join: (parts) => tokenText(joinParts(parts)), format: 'text' };
}

function isBorder(sign: string): boolean {
  const code = sign.charCodeAt(0);
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a))
    return false;
  if (sign === ' ' || sign === equals) return true;
  return !inToken.has(sign) && punctuation.test(sign);
}

/** The keys of a JSON line that may hold its message; the first one with a string is used. */
const messageKeys = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];
const blank = /[^ \n\r\t]/g;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const structure = /["{}[:]/g;

/**
 * The message of a line as written, with its escapes. The line is parsed as leniently as in Loki: everything after the message is ignored.
 */
function jsonMessage(line: string): string | undefined {
  const values = valuesOf(line);
  for (const key of messageKeys) {
    const at = values.get(key);
    if (at === undefined || line[at] !== '"') continue;
    const end = endOfString(line, at, line.length);
    if (end >= 0) return line.slice(at + 1, end);
  }
  return undefined;
}

/** Positions of the message keys' values in the outermost object, up to the point where the line stops being JSON. */
function valuesOf(line: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  let isOpen = false;
  let isKeySeen = false;
  for (let at = find(structure, line, 0); at >= 0; at = find(structure, line, at)) {
    const sign = line[at];
    if (sign === '"') {
      const end = endOfString(line, at, line.length);
      const next = end < 0 ? -1 : find(blank, line, end + 1);
      if (next < 0) break;
      if (line[next] !== ':') {
        at = next;
        continue;
      }
      if (!isOpen) break;
      const key = unescapedKey(line.slice(at + 1, end));
      if (key === undefined) break;
      isKeySeen = true;
      const value = find(blank, line, next + 1);
      if (messageKeys.includes(key) && !values.has(key) && value >= 0) values.set(key, value);
      at = next + 1;
    } else if (sign === '{') {
      if (!isOpen) {
        isOpen = true;
        at += 1;
        continue;
      }
      if (!isKeySeen) break;
      at = endOfBlock(line, at, line.length, openBrace, closeBrace);
      if (at < 0) break;
    } else if (sign === '[') {
      at = endOfBlock(line, at, line.length, openBracket, closeBracket);
      if (at < 0) break;
    } else break;
  }
  return values;
}

function find(pattern: RegExp, line: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(line)?.index ?? -1;
}
