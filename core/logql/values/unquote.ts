import { fromBytes } from './raw-bytes.js';

const simple = new Map([
  ['a', 0x07],
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
  ['\\', 0x5c],
  ['"', 0x22],
  ["'", 0x27],
]);
const digitCounts = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** The value of a `"..."` or `` `...` `` literal, or undefined when it is malformed (Go: invalid syntax). `\x` and octal escapes are bytes. */
export function unquoteGo(literal: string): string | undefined {
  const quote = literal[0];
  if (literal.length < 2 || quote === undefined || literal.at(-1) !== quote) return undefined;
  const body = literal.slice(1, -1);
  if (quote === '`') return body.includes('`') ? undefined : body;
  if (body.includes('\n')) return undefined;
  if (!body.includes('\\')) return body.includes(quote) ? undefined : body;
  return unescapeBody(body, quote);
}

function unescapeBody(body: string, quote: string): string | undefined {
  const parts: Buffer[] = [];
  let text = '';
  let from = 0;
  for (let at = body.indexOf('\\'); at >= 0; at = body.indexOf('\\', from)) {
    const plain = body.slice(from, at);
    const escape = readEscape(body, at + 1, quote);
    if (escape === undefined || plain.includes(quote)) return undefined;
    text += plain;
    if (typeof escape.means === 'string') text += escape.means;
    else {
      parts.push(Buffer.from(text), Buffer.of(escape.means));
      text = '';
    }
    from = escape.next;
  }
  const rest = body.slice(from);
  if (rest.includes(quote)) return undefined;
  return parts.length === 0 ? text + rest : fromBytes(Buffer.concat([...parts, Buffer.from(text + rest)]));
}

interface Escape {
  /** A text, or a byte beyond ASCII. */
  readonly means: string | number;
  readonly next: number;
}

function readEscape(body: string, at: number, quote: string): Escape | undefined {
  const char = body[at] ?? '';
  const code = simple.get(char);
  if (code !== undefined) {
    // Only the quote that delimits the literal may be escaped.
    if ((char === '"' || char === "'") && char !== quote) return undefined;
    return { means: String.fromCharCode(code), next: at + 1 };
  }
  const octal = /^[0-7]{3}/.exec(body.slice(at, at + 3))?.[0];
  if (octal !== undefined) {
    const byte = parseInt(octal, 8);
    return byte > 0xff ? undefined : { means: textOfByte(byte), next: at + 3 };
  }
  const count = digitCounts.get(char);
  if (count === undefined) return undefined;
  const digits = body.slice(at + 1, at + 1 + count);
  if (digits.length < count || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const value = parseInt(digits, 16);
  if (value > 0x10ffff) return undefined;
  return { means: char === 'x' ? textOfByte(value) : textOfCode(value), next: at + 1 + count };
}

function textOfByte(byte: number): string | number {
  return byte < 0x80 ? String.fromCharCode(byte) : byte;
}

/** Surrogates are invalid, even as a pair of escapes. */
function textOfCode(code: number): string {
  return code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
}
