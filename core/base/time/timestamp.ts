/** Timestamps in nanoseconds since the epoch (bigint), as the read API accepts them (docs/protocol/requests.md#common-parameters). */
import { maxInt64, minInt64, parseGoFloat, parseGoInt } from './go-number.js';
import { quoteGo } from './go-quote.js';

/** A time parameter that cannot be parsed; the message is Loki's. */
export class TimestampError extends Error {}

/**
 * Parses a time parameter: an integer of up to ten characters is seconds, a longer one nanoseconds, a number with a dot is seconds of which
 * three decimals are kept, anything else RFC 3339. Throws TimestampError, also for a time that does not fit 64 bits of nanoseconds:
 * splitting such a range into windows would never end.
 */
export function parseTimestamp(text: string): bigint {
  const ns = parseMoment(text);
  if (fits64(ns)) return ns;
  throw outOfRange(text);
}

/** As `parseTimestamp`, for a single moment, which may be in any year up to 9999. */
export function parseMoment(text: string): bigint {
  if (text.includes('.')) {
    const float = parseGoFloat(text);
    if (float.kind === 'ok') {
      if (Math.abs(float.value) > lastSecond) throw outOfRange(text);
      return floatSecondsToNs(float.value);
    }
  }
  const integer = parseGoInt(text);
  if (integer.kind === 'ok') return text.length <= 10 ? integer.value * 1_000_000_000n : integer.value;
  const moment = parseRfc3339(text);
  if (moment !== undefined) return moment;
  throw new TimestampError(integer.error);
}

/** The last second of the year 9999. */
const lastSecond = 253_402_300_799;

/** True when a time fits 64 bits of nanoseconds, which end in April 2262. */
export function fits64(ns: bigint): boolean {
  return ns >= minInt64 && ns <= maxInt64;
}

function floatSecondsToNs(value: number): bigint {
  const whole = Math.trunc(value);
  // Loki keeps three decimals.
  const millis = Math.round((value - whole) * 1000);
  return BigInt(whole) * 1_000_000_000n + BigInt(millis) * 1_000_000n;
}

function outOfRange(text: string): TimestampError {
  return new TimestampError(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
}

const rfc3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Parses an RFC 3339 time with up to nanoseconds; undefined when it is malformed or names a day that does not exist. */
export function parseRfc3339(text: string): bigint | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hours, minutes, seconds] = match.slice(1, 7).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const offsetHours = Number(match[10] ?? 0);
  const offsetMinutes = Number(match[11] ?? 0);
  if (offsetHours > 24 || offsetMinutes > 60) return undefined;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[9] === '-' ? -1 : 1);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hours, minutes, seconds, 0);
  return BigInt(date.getTime() - offsetMs) * 1_000_000n + BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** Prints an RFC 3339 time in UTC with the decimals it needs, up to nanoseconds. */
export function printRfc3339(ns: bigint): string {
  const remainder = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const whole = new Date(Number((ns - remainder) / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = String(remainder).padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

/** Seconds, with milliseconds if there are any, as Loki writes the time of a sample. */
export function formatSeconds(timestampMs: number): string {
  return timestampMs % 1000 === 0 ? String(timestampMs / 1000) : (timestampMs / 1000).toFixed(3);
}
