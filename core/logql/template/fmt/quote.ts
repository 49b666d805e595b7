import { quoteGo } from '../../../base/label-set.js';
import { hasRawBytes } from '../../values/raw-bytes.js';

const notAscii = /[^\0-\x7f]/gu;

/** Go's strconv.Quote; with `onlyAscii` its QuoteToASCII. */
export function quoteGoText(text: string, onlyAscii = false): string {
  return onlyAscii ? escapeNonAscii(quoteGo(text)) : quoteGo(text);
}

/** Go's strconv.QuoteRune: `'x'`. */
export function quoteCharacter(code: number, onlyAscii: boolean): string {
  const char = String.fromCodePoint(isCharacter(code) ? code : 0xfffd);
  if (char === "'") return `'\\''`;
  if (char === '"') return `'"'`;
  const quoted = quoteGo(char).slice(1, -1);
  return `'${onlyAscii ? escapeNonAscii(quoted) : quoted}'`;
}

export function isCharacter(code: number): boolean {
  return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/** True when a text can be written between backquotes unchanged. */
export function canBackquote(text: string): boolean {
  return !/[\0-\x08\x0a-\x1f`\x7f\ufeff]/.test(text) && !hasRawBytes(text);
}

function escapeNonAscii(text: string): string {
  return text.replaceAll(notAscii, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
}
