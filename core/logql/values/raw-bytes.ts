import { isUtf8 } from 'node:buffer';

/**
 * Go strings are bytes. Here a byte that is not part of a UTF-8 sequence (for example half of a letter after trunc) is represented by the
 * lone surrogate U+DC00 + byte, so that lengths are Go's and two halves can form a letter again.
 */
const rawByte = /[\udc80-\udcff]/gu;
const anyRawByte = /[\udc80-\udcff]/u;
const notAscii = /[^\0-\x7f]/;
const rawBase = 0xdc00;

export function isAscii(text: string): boolean {
  return !notAscii.test(text);
}

export function hasRawBytes(text: string): boolean {
  return anyRawByte.test(text);
}

/** Offset of the first invalid byte, or -1. */
export function firstRawByte(text: string): number {
  return text.search(anyRawByte);
}

/** Length in bytes. */
export function byteLength(text: string): number {
  const length = Buffer.byteLength(text);
  // Each would have counted as a character of three bytes.
  return length === text.length || !hasRawBytes(text)
    ? length
    : length - 2 * (text.match(rawByte)?.length ?? 0);
}

export function toBytes(text: string): Buffer {
  if (!hasRawBytes(text)) return Buffer.from(text);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { 0: char, index } of text.matchAll(rawByte)) {
    parts.push(Buffer.from(text.slice(from, index)), Buffer.from([char.charCodeAt(0) - rawBase]));
    from = index + 1;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from))]);
}

export function fromBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let out = '';
  for (let at = 0; at < bytes.length;) {
    const width = sequenceLength(bytes, at);
    out +=
      width === 0 ? String.fromCharCode(rawBase + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + width);
    at += width === 0 ? 1 : width;
  }
  return out;
}

/** Length of the UTF-8 sequence that starts here; 0 if there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const width = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  for (let next = 1; next < width; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  // An overlong form, half a surrogate pair, or beyond the last code point.
  const second = bytes[at + 1] ?? 0;
  const isBad =
    (lead === 0xe0 && second < 0xa0) ||
    (lead === 0xed && second > 0x9f) ||
    (lead === 0xf0 && second < 0x90) ||
    (lead === 0xf4 && second > 0x8f);
  return isBad ? 0 : width;
}

/** `text[from:to]` in bytes; offsets must lie within the text. */
export function sliceBytes(text: string, from: number, to: number): string {
  if (isAscii(text)) return text.slice(from, to);
  return fromBytes(toBytes(text).subarray(from, to));
}

/** Joins halves of letters, so that searches see letters. */
export function joined(text: string): string {
  return hasRawBytes(text) ? fromBytes(toBytes(text)) : text;
}

/** Prepares a text for output: every invalid UTF-8 byte becomes U+FFFD, as in JSON from Go. */
export function wellFormed(text: string): string {
  return hasRawBytes(text) ? joined(text).replaceAll(rawByte, '\ufffd') : text;
}

/** Compares as Go does, byte by byte. */
export function compareGoStrings(a: string, b: string): number {
  if (a === b) return 0;
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  // Below the surrogates, code units sort like bytes.
  const left = at < a.length ? a.charCodeAt(at) : -1;
  const right = at < b.length ? b.charCodeAt(at) : -1;
  if (left < 0xd800 && right < 0xd800) return left - right;
  return Buffer.compare(toBytes(a), toBytes(b));
}
