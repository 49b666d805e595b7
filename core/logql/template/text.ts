import { quoteGo } from '../../base/time/go-quote.js';
import type { TemplateToken } from './token.js';

/** Go's %#U of the character at an offset: `U+002D '-'`. */
export function describeCharacter(source: string, at: number): string {
  const code = source.codePointAt(at) ?? 0xfffd;
  const hex = code.toString(16).toUpperCase().padStart(4, '0');
  const char = String.fromCodePoint(code);
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? `U+${hex} '${char}'` : `U+${hex}`;
}

/** A token as error texts show it. */
export function describeToken({ kind, text }: TemplateToken): string {
  if (kind === 'eof') return 'EOF';
  if (kind === 'error') return text;
  if (kind === 'keyword' || kind === 'dot' || kind === 'nil') return `<${text}>`;
  const characters = Array.from(text);
  return characters.length > 10 ? `${quoteGo(characters.slice(0, 10).join(''))}...` : quoteGo(text);
}
