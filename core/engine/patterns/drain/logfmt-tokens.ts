import { atFault, atPair, LogfmtReader } from '../../../logql/pipeline/logfmt-reader.js';
import { bytesOf, maxTokens, placeholder, tokenText, type TokenizedLine } from './tokens.js';

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

/** Alternating keys and values; a key without a value has an empty one. Undefined when the line is not logfmt to its end. */
export function tokenizeLogfmt(line: string): TokenizedLine | undefined {
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

/** Pairs as an encoder of logfmt writes them; nothing when one has no key. */
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
