import { compileRegExp } from '../../../logql/regexp/index.js';
import { jsonMessage } from './json-message.js';
import { tokenizeLogfmt } from './logfmt-tokens.js';
import { tokenizeText } from './text-tokens.js';
import {
  maxTextBytes,
  maxTokens,
  minTokens,
  placeholder,
  type LineFormat,
  type TokenizedLine,
} from './tokens.js';

const pair = '\\w+=(?:[^"]\\S*|".+")';
const onlyPairs = compileRegExp(`^(?:${pair} )*(?:${pair})+$`);

/** The format of a stream, by its first line. */
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

/** Only the message of a JSON line has a pattern; the rest differs. */
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
