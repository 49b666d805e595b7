import { quoteGo } from '../label-set.js';

// Parses and prints numbers as Go's strconv does: it defines Loki's parameters and conversions, error messages included.

type NumberProblem = 'invalid syntax' | 'value out of range';
export type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'bad'; readonly problem: NumberProblem; readonly error: string };

export const maxInt64 = 9_223_372_036_854_775_807n;
export const minInt64 = -9_223_372_036_854_775_808n;

const integer = /^[+-]?[0-9]+$/;

/** Parses a signed 64-bit decimal integer, as `strconv.ParseInt(text, 10, 64)` and `strconv.Atoi` do. */
export function parseGoInt(text: string): Parsed<bigint> {
  if (!integer.test(text)) return failure('ParseInt', text, 'invalid syntax');
  // Longer digit strings cannot fit; without this bound, BigInt would take quadratic time on untrusted input.
  if (text.replace(/^[+-]?0*/, '').length > 19) return failure('ParseInt', text, 'value out of range');
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value < minInt64 || value > maxInt64
    ? failure('ParseInt', text, 'value out of range')
    : { kind: 'ok', value };
}

function failure(name: string, text: string, problem: NumberProblem): Parsed<never> {
  return { kind: 'bad', problem, error: `strconv.${name}: parsing ${quoteGo(text)}: ${problem}` };
}

const decimal =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const hexadecimal = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9]+)$/;
const special = /^([+-]?)(?:(inf|infinity)|nan)$/i;

/** Parses a float as `strconv.ParseFloat(text, 64)` does: decimal or hexadecimal, `_` between digits, `Inf` and `NaN`. */
export function parseGoFloat(text: string): Parsed<number> {
  const value = readFloat(text);
  if (value === undefined) return failure('ParseFloat', text, 'invalid syntax');
  return Math.abs(value) === Infinity && !special.test(text)
    ? failure('ParseFloat', text, 'value out of range')
    : { kind: 'ok', value };
}

function readFloat(text: string): number | undefined {
  if (decimal.test(text)) return Number(text.replaceAll('_', ''));
  const named = special.exec(text);
  if (named !== null) {
    if (named[2] === undefined) return named[1] === '' ? NaN : undefined;
    return named[1] === '-' ? -Infinity : Infinity;
  }
  const hex = hexadecimal.exec(text);
  return hex === null ? undefined : readHex(hex);
}

function readHex([, sign = '', whole = '', fraction = '', exponent = '']: readonly string[]):
  number | undefined {
  if (/^_|__|_$/.test(whole) || /^_|__|_$/.test(fraction)) return undefined;
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const shift = Number(exponent) - 4 * fraction.replaceAll('_', '').length;
  const magnitude = Number(BigInt(`0x${digits}`));
  // In two steps: 2 ** shift alone may overflow although the product does not.
  const half = Math.trunc(shift / 2);
  const value = magnitude * 2 ** half * 2 ** (shift - half);
  return sign === '-' ? -value : value;
}

/** Prints a float as `strconv.FormatFloat(value, 'f', -1, 64)` does: the shortest digits that parse to it, never an exponent. */
export function formatFloatPlain(value: number): string {
  const name = specialName(value);
  if (name !== undefined) return name;
  const text = String(value);
  if (!text.includes('e')) return text;
  const { sign, digits, point } = shortest(value);
  return point <= 0 ? `${sign}0.${'0'.repeat(-point)}${digits}` : sign + digits.padEnd(point, '0');
}

/** Go's %v of a float64: plain digits for exponents from -4 to 5, else `1e+06`. */
export function formatFloatShort(value: number): string {
  const name = specialName(value);
  if (name !== undefined) return name;
  const { sign, digits, point } = shortest(value);
  const exponent = point - 1;
  if (exponent >= -4 && exponent < 6) return formatFloatPlain(value);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${sign}${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

/** Go's %f: six decimals. */
export function formatFloatFixed(value: number): string {
  if (!Number.isFinite(value)) return specialName(value) ?? '';
  if (Math.abs(value) < 1e21) return Object.is(value, -0) ? '-0.000000' : value.toFixed(6);
  // A float of this size is an integer, and BigInt prints all its digits.
  return `${BigInt(value).toString()}.000000`;
}

function specialName(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return undefined;
}

/** The shortest digits that parse to the value; the decimal point is before digit number `point`. */
function shortest(value: number): { sign: string; digits: string; point: number } {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { sign: value < 0 ? '-' : '', digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

// Durations in nanoseconds (bigint), parsed and printed in the two forms Loki uses.

export const nanosPerSecond = 1_000_000_000n;
const nanosPerMs = 1_000_000n;
const second = nanosPerSecond;
const minute = 60n * second;
const hour = 60n * minute;
const day = 24n * hour;

const prometheusUnits: readonly (readonly [name: string, nanoseconds: bigint])[] = [
  ['y', 365n * day],
  ['w', 7n * day],
  ['d', day],
  ['h', hour],
  ['m', minute],
  ['s', second],
  ['ms', nanosPerMs],
];
const prometheusPiece = /([0-9]*)([^0-9]*)/y;
/** Units that are only used if they divide the rest evenly, so that 90d does not become 12w6d. */
const wholeOnly: ReadonlySet<string> = new Set(['y', 'w']);

/** A duration in nanoseconds, or Prometheus's error text. */
export type ParsedDuration =
  { readonly kind: 'ok'; readonly value: bigint } | { readonly kind: 'bad'; readonly error: string };

/** Parses a Prometheus duration such as `1h30m`, `7d` or `0`: whole numbers with units from years to milliseconds in descending order. */
export function parsePrometheusDuration(text: string): ParsedDuration {
  if (text === '0') return { kind: 'ok', value: 0n };
  if (text === '') return { kind: 'bad', error: 'empty duration string' };
  const invalid = `not a valid duration string: ${quoteGo(text)}`;
  prometheusPiece.lastIndex = 0;
  let total = 0n;
  let lastUnit = -1;
  while (prometheusPiece.lastIndex < text.length) {
    const [, digits = '', name = ''] = prometheusPiece.exec(text) ?? [];
    const count = BigInt(digits.slice(0, 20) || '0');
    if (digits === '' || name === '' || digits.length > 20 || count >= 1n << 64n)
      return { kind: 'bad', error: invalid };
    const unit = prometheusUnits.findIndex(([known]) => known === name);
    const scale = prometheusUnits[unit]?.[1];
    if (scale === undefined)
      return { kind: 'bad', error: `unknown unit ${quoteGo(name)} in duration ${quoteGo(text)}` };
    if (unit <= lastUnit) return { kind: 'bad', error: invalid };
    lastUnit = unit;
    total += count * scale;
    if (total > maxInt64) return { kind: 'bad', error: 'duration out of range' };
  }
  return { kind: 'ok', value: total };
}

/** Prints a Prometheus duration (`2h`, `1d`, `1h30m`, `-1w`, `0s`); anything below a millisecond is dropped. */
export function printPrometheusDuration(duration: bigint): string {
  let rest = ((duration < 0n ? -duration : duration) / nanosPerMs) * nanosPerMs;
  if (rest === 0n) return '0s';
  let text = duration < 0n ? '-' : '';
  for (const [name, unit] of prometheusUnits) {
    if (rest < unit || (wholeOnly.has(name) && rest % unit !== 0n)) continue;
    text += `${String(rest / unit)}${name}`;
    rest %= unit;
  }
  return text;
}

/** Nanoseconds of each unit by its name. */
type DurationUnits = ReadonlyMap<string, bigint>;

export const goUnits: DurationUnits = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', nanosPerMs],
  ['s', second],
  ['m', minute],
  ['h', hour],
]);
const goPiece = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;
/** Go's units, and those that Loki also accepts in tenant limits. */
export const longUnits: DurationUnits = new Map([...goUnits, ['d', day], ['w', 7n * day], ['y', 365n * day]]);

/** Parses a duration as Go's time.ParseDuration does (`1h2m`, `1.5s`, `-3ms`); undefined when it is malformed. */
export function parseGoDuration(text: string, units = goUnits): bigint | undefined {
  const read = readGoDuration(text, units);
  return typeof read === 'bigint' ? read : undefined;
}

/** Go's error text for a malformed duration. */
export function goDurationFault(text: string): string {
  const quoted = quoteBytes(text);
  const unit = readGoDuration(text, goUnits);
  if (typeof unit !== 'string') return `time: invalid duration ${quoted}`;
  return unit === ''
    ? `time: missing unit in duration ${quoted}`
    : `time: unknown unit ${quoteBytes(unit)} in duration ${quoted}`;
}

/** The duration; for a missing or unknown unit its name (empty if missing); undefined for any other mistake. */
function readGoDuration(text: string, units: DurationUnits): bigint | string | undefined {
  const isNegative = text.startsWith('-');
  goPiece.lastIndex = isNegative || text.startsWith('+') ? 1 : 0;
  if (goPiece.lastIndex === text.length) return undefined;
  if (text.length === goPiece.lastIndex + 1 && text.endsWith('0')) return 0n;
  const most = maxInt64 + (isNegative ? 1n : 0n);
  let total = 0n;
  while (goPiece.lastIndex < text.length) {
    const [, whole = '', fraction = '', name = ''] = goPiece.exec(text) ?? [];
    const digits = whole.replace(/^0+/, '');
    // Go parses the number before the unit; longer ones do not fit an integer.
    if (whole + fraction === '' || digits.length > 19 || BigInt(digits) > maxInt64 + 1n) return undefined;
    const unit = units.get(name);
    if (unit === undefined) return name;
    total += BigInt(digits) * unit;
    total += BigInt(scaledFraction(fraction, Number(unit)));
    if (total > most) return undefined;
  }
  return isNegative ? -total : total;
}

/** The whole part of a decimal fraction of a unit. Go computes it with floats, so it may be one less, or be rounded up to the unit. */
function scaledFraction(digits: string, unit: number): number {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    // Go ignores further digits.
    if (next > maxInt64 + 1n) break;
    value = next;
    scale *= 10;
  }
  return Math.trunc(Number(value) * (unit / scale));
}

/** Quotes as Go's package time does: control characters and bytes beyond ASCII are hexadecimal. */
function quoteBytes(text: string): string {
  let quoted = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === '"' || char === '\\') quoted += `\\${char}`;
    else if (code >= 0x20 && code < 0x80) quoted += char;
    // A lone surrogate from U+DC80 to U+DCFF is a byte that is not UTF-8.
    else
      for (const byte of code >= 0xdc80 && code <= 0xdcff ? [code & 0xff] : Buffer.from(char))
        quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `"${quoted}"`;
}

/** Prints a Go duration: `4h0m0s`, `1.5s`, `300ms`, `0s`. */
export function printGoDuration(duration: bigint): string {
  if (duration === 0n) return '0s';
  const sign = duration < 0n ? '-' : '';
  const size = duration < 0n ? -duration : duration;
  if (size < 1_000n) return `${sign}${String(size)}ns`;
  if (size < nanosPerMs) return `${sign}${withFraction(size, 1_000n)}µs`;
  if (size < second) return `${sign}${withFraction(size, nanosPerMs)}ms`;
  const hours = size / hour;
  const minutes = (size % hour) / minute;
  const seconds = `${withFraction(size % minute, second)}s`;
  if (hours > 0n) return `${sign}${String(hours)}h${String(minutes)}m${seconds}`;
  return minutes > 0n ? `${sign}${String(minutes)}m${seconds}` : `${sign}${seconds}`;
}

/** Prints milliseconds as a Go duration. */
export function printGoMs(ms: number): string {
  return printGoDuration(BigInt(Math.round(ms)) * nanosPerMs);
}

function withFraction(value: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(value / unit) : `${String(value / unit)}.${fraction}`;
}

/** The duration in milliseconds, rounded down, as options use it. */
export function durationToMs(duration: bigint): number {
  return Number(duration / nanosPerMs);
}

// Timestamps in nanoseconds since the epoch (bigint), as the read API accepts them (docs/protocol/requests.md#common-parameters).

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
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,]([0-9]+))?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Parses an RFC 3339 time with up to nanoseconds; undefined when it is malformed or names a day that does not exist. */
export function parseRfc3339(text: string): bigint | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const whole = `${text.slice(0, 19)}Z`;
  const ms = Date.parse(whole);
  // Date.parse takes days such as February 30 for one of the next month, and 24:00 for midnight.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== whole.replace('Z', '.000Z')) return undefined;
  const offsetHours = Number(match[4] ?? 0);
  const offsetMinutes = Number(match[5] ?? 0);
  if (offsetHours > 24 || offsetMinutes > 60) return undefined;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[3] === '-' ? -1 : 1);
  return BigInt(ms - offsetMs) * 1_000_000n + BigInt((match[1] ?? '').slice(0, 9).padEnd(9, '0'));
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

/** The largest multiple of a length that is at most `ns`. */
export function floorTo(ns: bigint, lengthNs: bigint): bigint {
  const rest = ns % lengthNs;
  return ns - (rest < 0n ? rest + lengthNs : rest);
}
