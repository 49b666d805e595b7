import { parseBytes } from '../values/bytes.js';
import { goDurationFault, parseGoDuration, parseGoFloat } from '../../base/time/index.js';
import { lowered } from '../regexp/folding.js';

/** Longer numbers may lose digits as a double; they are parsed the slow way. */
const exactDigits = 15;
const units = new Map<string, number>([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
]);
const sizes = new Map<string, number>([
  ['', 1],
  ['B', 1],
  ['kB', 1e3],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
]);

/** Nanoseconds per character, error texts included. */
export const conversionCost = 30;

/** Parses a label's value for a comparison or as a sample; a text is the error, in Go's words. */
export type Conversion = (text: string) => number | string;

/** A float in Go's syntax. */
export function readNumber(text: string): number | string {
  const digits = plainLength(text);
  if (digits > 0 && digits === text.length) return Number(text);
  const read = parseGoFloat(text);
  return read.kind === 'ok' ? read.value : read.error;
}

/** A Go duration in nanoseconds; exact below 104 days, which is enough for comparisons. */
export function readNanoseconds(text: string): number | string {
  const short = readShort(text);
  if (short !== undefined) return short;
  const read = parseGoDuration(text);
  return read === undefined ? goDurationFault(text) : Number(read);
}

/** A Go duration in seconds. */
export function readSeconds(text: string): number | string {
  const nanoseconds = readNanoseconds(text);
  if (typeof nanoseconds === 'string') return nanoseconds;
  const whole = Math.trunc(nanoseconds / 1e9);
  return whole + (nanoseconds - whole * 1e9) / 1e9;
}

/** A size in bytes, rounded down. The product is computed as a float, so `4.35MB` may be a byte short. */
export function readBytes(text: string): number | string {
  const digits = plainLength(text);
  const unit = digits === 0 || isNegative(text) ? undefined : sizes.get(text.slice(digits));
  if (unit !== undefined) return Math.trunc(Number(text.slice(0, digits)) * unit);
  return parseBytes(text) ?? bytesFault(text);
}

/** Parses digits with at most one point and a unit, which most durations are. */
function readShort(text: string): number | undefined {
  const digits = plainLength(text);
  if (digits === 0 || isNegative(text)) return undefined;
  const unit = units.get(text.slice(digits));
  return unit === undefined ? undefined : scaled(text, digits, unit);
}

function isNegative(text: string): boolean {
  return text.charCodeAt(0) === 0x2d;
}

/** The whole part of the product with the unit, as Go computes it; undefined if it may be inexact. */
function scaled(text: string, digits: number, unit: number): number | undefined {
  const point = text.indexOf('.');
  if (point < 0 || point >= digits) {
    const value = Number(text.slice(0, digits)) * unit;
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const whole = Number(text.slice(0, point)) * unit;
  // Go computes the fraction with floats.
  const fraction = Number(text.slice(point + 1, digits)) * (unit / 10 ** (digits - point - 1));
  return Number.isSafeInteger(whole) ? whole + Math.trunc(fraction) : undefined;
}

/** The length of a plain number at the start: a sign, digits, and at most one point between them; 0 for none. */
function plainLength(text: string): number {
  let at = text.charCodeAt(0) === 0x2d ? 1 : 0;
  const from = at;
  let hasPoint = false;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x2e && !hasPoint && at > from) hasPoint = true;
    else if (unit < 0x30 || unit > 0x39) break;
  }
  const isPlain = at > from && at - from <= exactDigits && text.charCodeAt(at - 1) !== 0x2e;
  return isPlain ? at : 0;
}

/** The reason why a text is not a size. */
function bytesFault(text: string): string {
  const [, number = '', unit = ''] = /^([\p{Nd}.,]*)(.*)$/su.exec(text) ?? [];
  const read = parseGoFloat(number.replaceAll(',', ''));
  if (read.kind === 'bad') return read.error;
  const name = lowered(unit.trim());
  return /^(?:|b|[kmgtpe]i?b?)$/.test(name) ? `too large: ${text}` : `unhandled size name: ${name}`;
}
