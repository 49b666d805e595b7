import { bytesOf, maxTokens, tokenText, type TokenizedLine } from './tokens.js';

/** Characters that belong to tokens although Unicode considers them punctuation. */
const inToken: ReadonlySet<string> = new Set(['_', '-', '.', ':', '/']);
/** A character that is a separate token although Unicode does not consider it punctuation. */
const equals = '=';
const punctuation = /\p{P}/u;

/**
 * Splits text at blanks and punctuation: each punctuation character is a separate token, except those that hold names, addresses, times and
 * paths together (docs/protocol/answers.md#patterns). Undefined when there are too many tokens.
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
      // Of a longer character only the first byte is the token, as in Loki; the others begin the next one.
      if (sign !== ' ') push(at, start);
      else if (tokens.length === 0) leading += 1;
      else blanks[tokens.length - 1] = (blanks[tokens.length - 1] ?? 0) + 1;
      if (tokens.length > maxTokens) return undefined;
    }
    at += bytes.length === text.length ? 1 : Buffer.byteLength(sign);
  }
  push(start, bytes.length);
  // Loki loses all blanks of a text that begins with one.
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
