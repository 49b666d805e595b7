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
export const minTokens = 4;
export const maxTokens = 80;
/** Maximum length of a text with a pattern. */
export const maxTextBytes = 3000;

const beyondAscii = /[^\u0000-\u007f]/;

export function bytesOf(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

export function tokenText(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}
