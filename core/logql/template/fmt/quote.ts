import { quoteGo } from '../../../base/time/go-quote.js';
import { hasRawBytes } from '../strings/raw-bytes.js';

const rawByte = /[\udc80-\udcff]/gu;
const notAscii = /[^\0-\x7f]/gu;

/** Go's strconv.Quote; with `onlyAscii` its QuoteToASCII. */
export function quoteText(text: string, onlyAscii = false): string {
  if (!hasRawBytes(text)) return onlyAscii ? escapeNonAscii(quoteGo(text)) : quoteGo(text);
  let out = '';
  let from = 0;
  const add = (part: string): void => {
    const quoted = quoteGo(part).slice(1, -1);
    out += onlyAscii ? escapeNonAscii(quoted) : quoted;
  };
  for (const { 0: char, index } of text.matchAll(rawByte)) {
    add(text.slice(from, index));
    out += `\\x${(char.charCodeAt(0) & 0xff).toString(16)}`;
    from = index + 1;
  }
  add(text.slice(from));
  return `"${out}"`;
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

/** Whether a text can be written between backquotes unchanged. */
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
