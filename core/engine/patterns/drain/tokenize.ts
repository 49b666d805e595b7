import { tokenizeText, type TokenizedLine } from './line-tokens.js';

export type { TokenizedLine } from './line-tokens.js';

/** Replaces text that differs between lines. */
export const placeholder = '<_>';

/** Longer lines have no pattern. */
const maxLineBytes = 3000;
/** Shorter lines have no pattern either. */
const minTokens = 4;
/** The keys of a JSON line that may hold its message; the first one present is used. */
const messageKeys = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];

/** Splits a line into tokens by its format; undefined for a line without a pattern. */
export function tokenize(line: string): TokenizedLine | undefined {
  if (line.length > maxLineBytes || Buffer.byteLength(line) > maxLineBytes) return undefined;
  const tokenized = byFormat(line);
  return tokenized === undefined || tokenized.tokens.length < minTokens ? undefined : tokenized;
}

function byFormat(line: string): TokenizedLine | undefined {
  if (line.startsWith('{') && line.endsWith('}')) return tokenizeJson(line);
  return looksLikeLogfmt(line) ? tokenizeLogfmt(line) : tokenizeText(line);
}

/** Only the message of a JSON line has a pattern; the rest differs. */
function tokenizeJson(line: string): TokenizedLine | undefined {
  const message = messageOf(line);
  if (message === undefined) return undefined;
  const { tokens, join } = tokenizeText(message);
  return { tokens, join: (parts) => placeholder + join(parts) + placeholder, format: 'json' };
}

function messageOf(line: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const key of messageKeys) {
    const text = fields.get(key);
    if (typeof text === 'string') return text;
  }
  return undefined;
}

/** Starts with a key without blanks and quotes, an equals sign and a value. */
function looksLikeLogfmt(line: string): boolean {
  return /^[^\s="]+=./s.test(line);
}

const pair = /([^\s="]+)(?:=("(?:[^"\\]|\\.)*"|[^\s"]*))?(?:\s+|$)/gsy;

/** Alternating keys and values; a key without a value has an empty one. Undefined when the line is not logfmt to its end. */
function tokenizeLogfmt(line: string): TokenizedLine | undefined {
  const tokens: string[] = [];
  pair.lastIndex = 0;
  while (pair.lastIndex < line.length) {
    const found = pair.exec(line);
    if (found === null) return undefined;
    const [, key = '', value = ''] = found;
    tokens.push(key, value);
  }
  return { tokens, join: joinPairs, format: 'logfmt' };
}

function joinPairs(tokens: readonly string[]): string {
  const pairs: string[] = [];
  for (let index = 0; index < tokens.length; index += 2)
    pairs.push(`${tokens[index] ?? ''}=${tokens[index + 1] ?? ''}`);
  return pairs.join(' ');
}
