import { parseBytes } from '../../values/bytes.js';
import { parseGoDuration } from '../../values/go-duration.js';
import { parseGoFloat } from '../../values/go-float.js';
import { toLower } from '../strings/case.js';
import { trimSpace } from '../strings/characters.js';
import { toBytes } from '../../values/raw-bytes.js';
import { GoError, ofText, type GoFunction } from './types.js';

/** A size as a number of bytes. */
function bytes(subject: string): number {
  const size = parseBytes(subject);
  if (size !== undefined) return size;
  const digits = /^[\p{Nd}.,]*/u.exec(subject)?.[0] ?? '';
  const number = parseGoFloat(digits.replaceAll(',', ''));
  if (!number.ok) throw new GoError(number.error);
  const unit = toLower(trimSpace(subject.slice(digits.length)));
  const isKnown = parseBytes(`1 ${unit}`) !== undefined;
  throw new GoError(isKnown ? `too large: ${subject}` : `unhandled size name: ${unit}`);
}

/** A duration in seconds. */
function seconds(subject: string): number {
  const nanoseconds = parseGoDuration(subject);
  if (nanoseconds === undefined) throw new GoError(durationFault(subject));
  return durationSeconds(nanoseconds);
}

/** Go's Duration.Seconds. */
export function durationSeconds(nanoseconds: bigint): number {
  const second = 1_000_000_000n;
  return Number(nanoseconds / second) + Number(nanoseconds % second) / 1e9;
}

/** Why Go refuses a duration. */
function durationFault(subject: string): string {
  const invalid = `time: invalid duration ${quoteTime(subject)}`;
  let rest = subject.replace(/^[+-]/, '');
  while (rest !== '') {
    const [all = '', number = '', unit = ''] = /^([0-9]*(?:\.[0-9]*)?)([^0-9.]*)/.exec(rest) ?? [];
    const [whole = ''] = number.split('.');
    if (!/[0-9]/.test(number) || BigInt(`0${whole}`) > 1n << 63n) return invalid;
    if (unit === '') return `time: missing unit in duration ${quoteTime(subject)}`;
    if (parseGoDuration(`1${unit}`) === undefined) {
      return `time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(subject)}`;
    }
    if (parseGoDuration(`-${all}`) === undefined) return invalid;
    rest = rest.slice(all.length);
  }
  return invalid;
}

/** How Go's package time quotes: bytes beyond ASCII in hexadecimal. */
function quoteTime(subject: string): string {
  let out = '';
  for (const byte of toBytes(subject)) {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`;
    else out += char === '"' || char === '\\' ? `\\${char}` : char;
  }
  return `"${out}"`;
}

export const unitFunctions: readonly (readonly [string, GoFunction])[] = [
  ['bytes', ofText(bytes)],
  ['duration', ofText(seconds)],
  ['duration_seconds', ofText(seconds)],
];
