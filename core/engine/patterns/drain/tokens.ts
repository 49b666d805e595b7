/** The shape that is assumed for all lines of a stream. */
export type LineFormat = 'text' | 'logfmt' | 'json';

/** A line split into tokens, with the means to join a pattern of it again. Tokens are texts of bytes: one character for each byte of UTF-8. */
export interface TokenizedLine {
  readonly tokens: readonly string[];
  /** Joins tokens to a text; the same for every line of one shape. Empty when they cannot be shown. */
  readonly join: (tokens: readonly string[]) => string;
  /** Lines of different formats never share a pattern. */
  readonly format: LineFormat;
}

/** Replaces text that differs between lines. */
export const placeholder = '<_>';

/** Lines with fewer or more tokens have no pattern. */
export const minTokens = 4;
export const maxTokens = 80;
/** Longer texts have none either. */
export const maxTextBytes = 3000;

const beyondAscii = /[^\u0000-\u007f]/;

export function bytesOf(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

export function tokenText(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}
