/** A line split into tokens, with the means to join a pattern of it again. */
export interface TokenizedLine {
  readonly tokens: readonly string[];
  /** Joins tokens with the number of blanks after each; the same for every line of one shape. */
  readonly join: (tokens: readonly string[]) => string;
  /** Lines of different formats never share a pattern. */
  readonly format: 'text' | 'logfmt' | 'json';
}

/** Characters that belong to tokens although Unicode considers them punctuation. */
const inToken: ReadonlySet<string> = new Set(['_', '-', '.', ':', '/']);
/** A character that is a separate token although Unicode does not consider it punctuation. */
const equals = '=';
const punctuation = /\p{P}/u;
const maxTokens = 127;

/**
 * Splits text at blanks and punctuation: each punctuation character is a separate token, except those that hold names, addresses, times and
 * paths together (docs/protocol/answers.md#patterns).
 */
export function tokenizeText(line: string): TokenizedLine {
  const tokens: string[] = [];
  const blanks: number[] = [];
  let start = 0;
  let leading = 0;
  const close = (end: number): void => {
    if (end > start) {
      tokens.push(line.slice(start, end));
      blanks.push(0);
    }
  };
  for (let at = 0; at < line.length && tokens.length < maxTokens; at += 1) {
    const sign = line.charAt(at);
    if (!isBorder(sign)) continue;
    close(at);
    start = at + 1;
    if (sign !== ' ') {
      tokens.push(sign);
      blanks.push(0);
    } else if (blanks.length === 0) leading += 1;
    else blanks[blanks.length - 1] = (blanks.at(-1) ?? 0) + 1;
  }
  close(line.length);
  const join = (parts: readonly string[]): string =>
    ' '.repeat(leading) + parts.map((part, index) => part + ' '.repeat(blanks[index] ?? 0)).join('');
  return { tokens, join, format: 'text' };
}

function isBorder(sign: string): boolean {
  const code = sign.charCodeAt(0);
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a))
    return false;
  if (sign === ' ' || sign === equals) return true;
  return !inToken.has(sign) && punctuation.test(sign);
}
