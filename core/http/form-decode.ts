import type { Steps } from '../base/pace/steps.js';

/** Bytes decoded per step; a body may be large, and so may one of its parameters. */
const stepBytes = 256 * 1024;
const [ampersand, equals, percent, plus, space] = [0x26, 0x3d, 0x25, 0x2b, 0x20];

/**
 * Decodes `a=b&c=d` like URLSearchParams, which takes quadratic time on many plus signs. Yields between steps, so that the caller can pause
 * for other work.
 */
export function* decodeForm(form: Buffer, add: (name: string, value: string) => void): Steps<void> {
  let sinceYield = 0;
  for (let at = 0; at < form.length;) {
    const found = form.indexOf(ampersand, at);
    const pair = form.subarray(at, found === -1 ? form.length : found);
    at += pair.length + 1;
    if (pair.length === 0) continue;
    const sign = pair.indexOf(equals);
    const name = yield* decodeText(sign === -1 ? pair : pair.subarray(0, sign));
    const value = sign === -1 ? '' : yield* decodeText(pair.subarray(sign + 1));
    add(name, value);
    sinceYield += pair.length;
    if (sinceYield < stepBytes) continue;
    sinceYield = 0;
    yield;
  }
}

function* decodeText(encoded: Buffer): Steps<string> {
  if (!encoded.includes(percent) && !encoded.includes(plus)) return yield* textOf(encoded);
  // Decoding never makes a text longer.
  const decoded = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  let nextYield = stepBytes;
  for (let at = 0; at < encoded.length; at += 1) {
    const byte = encoded[at] ?? 0;
    const escaped = byte === percent ? hexByte(encoded[at + 1], encoded[at + 2]) : -1;
    if (escaped >= 0) at += 2;
    decoded[length] = escaped >= 0 ? escaped : byte === plus ? space : byte;
    length += 1;
    if (at < nextYield) continue;
    nextYield = at + stepBytes;
    yield;
  }
  return yield* textOf(decoded.subarray(0, length));
}

/** Decodes UTF-8 in parts. Each part ends before a byte that starts a character, so the result is the same as for the whole. */
function* textOf(bytes: Buffer): Steps<string> {
  if (bytes.length <= stepBytes) return bytes.toString('utf8');
  const parts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(at + stepBytes, bytes.length);
    // After three continuation bytes, further ones belong to no character.
    for (let back = 0; back < 3 && isContinuationByte(bytes[end]); back += 1) end -= 1;
    parts.push(bytes.toString('utf8', at, end));
    at = end;
    yield;
  }
  return parts.join('');
}

function isContinuationByte(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The byte for two hexadecimal digits; negative when they are invalid. */
function hexByte(high = 0, low = 0): number {
  const [highValue, lowValue] = [digitValue(high), digitValue(low)];
  return highValue < 0 || lowValue < 0 ? -1 : highValue * 16 + lowValue;
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
