import { sprint, sprintln, sprintf } from '../fmt/printf.js';
import { concrete, type GoValue } from '../values.js';
import { textArgument, type GoFunction, GoError, ofText } from './types.js';
import { isPrintable } from './characters.js';
import { fromBytes, isAscii, toBytes } from '../../values/raw-bytes.js';
import { quoteGoText } from '../fmt/quote.js';

function printer(apply: (args: readonly GoValue[]) => string, weight = 1): GoFunction {
  return {
    parameters: [],
    weight,
    rest: 'any',
    inputLimit: 'print input',
    outputLimit: 'print input',
    call: apply,
  };
}

/** Escapes the printed arguments, where nil is `<no value>`. */
function escaper(escape: (subject: string) => string, weight: number): GoFunction {
  return printer((args) => escape(sprint(args.map((arg) => concrete(arg) ?? '<no value>'))), weight);
}

export const printFunctions: Readonly<Record<string, GoFunction>> = {
  print: printer(sprint),
  println: printer(sprintln),
  printf: {
    parameters: ['string'],
    rest: 'any',
    inputLimit: 'printf',
    weight: 4,
    outputLimit: 'printf',
    call: ([format, ...args]) => sprintf(textArgument(format), args),
  },
  html: escaper(htmlEscape, 3),
  js: escaper(jsEscape, 16),
  urlquery: escaper(urlEncode, 6),
};

const hexDigits = '0123456789ABCDEF';
const unreserved = /^[A-Za-z0-9\-_.~]*$/;

/** Go's url.QueryEscape. */
function urlEncode(subject: string): string {
  if (unreserved.test(subject)) return subject;
  let out = '';
  for (const byte of toBytes(subject)) {
    const char = String.fromCharCode(byte);
    if (unreserved.test(char)) out += char;
    else out += byte === 0x20 ? '+' : `%${hexDigits.charAt(byte >> 4)}${hexDigits.charAt(byte & 15)}`;
  }
  return out;
}

function urlDecode(subject: string): string {
  const bad = /%(?![0-9A-Fa-f]{2})/.exec(subject);
  if (bad !== null) {
    const shown = fromBytes(toBytes(subject.slice(bad.index)).subarray(0, 3));
    throw new GoError(`invalid URL escape ${quoteGoText(shown)}`);
  }
  const spaced = subject.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  const bytes = toBytes(spaced);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === 0x25) {
      byte = parseInt(bytes.toString('latin1', at + 1, at + 3), 16);
      at += 2;
    }
    bytes[length++] = byte;
  }
  return fromBytes(bytes.subarray(0, length));
}

const base64Digit = /[A-Za-z0-9+/]/;

/** Sprig's b64dec: invalid base64 gives the text of the error. */
function base64Decode(subject: string): string {
  const bytes = toBytes(subject);
  const bad = base64Fault(bytes.toString('latin1'));
  return bad === undefined
    ? fromBytes(Buffer.from(bytes.toString('latin1').replaceAll(/[\r\n]/g, ''), 'base64'))
    : `illegal base64 data at input byte ${String(bad)}`;
}

/** The offset at which Loki's decoder stops; undefined when it decodes everything. */
function base64Fault(text: string): number | undefined {
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  let at = 0;
  const skipLines = (): void => {
    while (text[at] === '\n' || text[at] === '\r') at++;
  };
  for (;;) {
    let digits = 0;
    for (; digits < 4; digits++) {
      skipLines();
      const char = text[at];
      // Padding may be missing, but a single digit is not a byte.
      if (char === undefined) return digits === 1 ? at - digits : undefined;
      at++;
      if (base64Digit.test(char)) continue;
      if (char !== '=' || digits < 2) return at - 1;
      skipLines();
      if (digits === 2) {
        if (at === text.length) return at;
        if (text[at] !== '=') return at - 1;
        at++;
        skipLines();
      }
      return at < text.length ? at : undefined;
    }
  }
}

const htmlEscapes = new Map([
  ['\0', '\ufffd'],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

function htmlEscape(subject: string): string {
  return subject.replaceAll(/[\0"'&<>]/g, (char) => htmlEscapes.get(char) ?? char);
}

const jsEscapes = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['"', '\\"'],
  ['<', '\\u003C'],
  ['>', '\\u003E'],
  ['&', '\\u0026'],
  ['=', '\\u003D'],
]);

function jsEscape(subject: string): string {
  return subject.replaceAll(/[\\'"<>&=\0-\x1f\x80-\u{10ffff}]/gu, (char) => {
    const known = jsEscapes.get(char);
    if (known !== undefined) return known;
    const code = char.codePointAt(0) ?? 0;
    if (!isAscii(char) && isPrintable(code)) return char;
    const shown = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
    return shown === 0xfffd ? '\ufffd' : `\\u${shown.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

export const encodingFunctions: Readonly<Record<string, GoFunction>> = {
  urlencode: ofText(urlEncode, 6),
  urldecode: ofText(urlDecode, 12),
  b64enc: ofText((subject) => toBytes(subject).toString('base64'), 3),
  b64dec: ofText(base64Decode, 6),
};
