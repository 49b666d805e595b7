/** Durations in nanoseconds (bigint), parsed and printed in the two forms Loki uses. */
import { maxInt64 } from './go-number.js';
import { quoteGo } from './go-quote.js';

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
export type DurationUnits = ReadonlyMap<string, bigint>;

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
