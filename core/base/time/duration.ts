/** Durations in nanoseconds (bigint), parsed and printed in the two forms Loki uses. */
import { maxInt64 } from './go-number.js';
import { quoteGo } from './go-quote.js';

export const nanosPerSecond = 1_000_000_000n;
const nanosPerMs = 1_000_000n;
const second = nanosPerSecond;
const minute = 60n * second;
const hour = 60n * minute;
const day = 24n * hour;
const week = 7n * day;
const year = 365n * day;

/** A duration that cannot be parsed; the message is Loki's. */
export class DurationError extends Error {}

const prometheusForm =
  /^(?:([0-9]+)y)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?$/;
const prometheusUnits = [year, week, day, hour, minute, second, nanosPerMs] as const;

/** Parses a Prometheus duration such as `1h30m`, `7d` or `0`: whole numbers, units from large to small. Throws DurationError. */
export function parsePrometheusDuration(text: string): bigint {
  if (text === '0') return 0n;
  if (text === '') throw new DurationError('empty duration string');
  const match = prometheusForm.exec(text);
  if (match === null) throw new DurationError(`not a valid duration string: ${quoteGo(text)}`);
  let total = 0n;
  for (const [index, unit] of prometheusUnits.entries()) {
    const digits = match[index + 1];
    if (digits === undefined) continue;
    // More digits than an int64 of nanoseconds has always overflow.
    if (digits.length > 19) throw new DurationError('duration out of range');
    total += BigInt(digits) * unit;
  }
  if (total > maxInt64) throw new DurationError('duration out of range');
  return total;
}

const prometheusNames = ['y', 'w', 'd', 'h', 'm', 's', 'ms'] as const;
/** Units that are only used when they divide the rest evenly, so that 90d does not become 12w6d. */
const wholeOnly = new Set<string>(['y', 'w']);

/** Prints a Prometheus duration (`2h`, `1d`, `1h30m`); anything below a millisecond is dropped. */
export function printPrometheusDuration(duration: bigint): string {
  if (duration === 0n) return '0s';
  let rest = duration < 0n ? -duration : duration;
  rest = (rest / nanosPerMs) * nanosPerMs;
  let text = duration < 0n ? '-' : '';
  for (const [index, unit] of prometheusUnits.entries()) {
    const name = prometheusNames[index] ?? '';
    if (wholeOnly.has(name) && rest % unit !== 0n) continue;
    if (rest >= unit) {
      text += `${String(rest / unit)}${name}`;
      rest %= unit;
    }
  }
  return text;
}

const goUnits: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', nanosPerMs],
  ['s', second],
  ['m', minute],
  ['h', hour],
]);
const goPart = /([0-9]*)(\.[0-9]*)?([^0-9.]*)/y;

/** Parses a Go duration such as `1.5h`, `-300ms` or `2h45m`. Throws DurationError with Go's message. */
export function parseGoDuration(text: string): bigint {
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quoteGo(text)}`);
  const isNegative = text.startsWith('-');
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0n;
  if (body === '') throw invalid();
  let total = 0n;
  let at = 0;
  while (at < body.length) {
    goPart.lastIndex = at;
    const match = goPart.exec(body);
    const [whole, digits = '', dotted = '', unitName = ''] = match ?? [''];
    if (digits === '' && dotted.length < 2) throw invalid();
    if (unitName === '') throw new DurationError(`time: missing unit in duration ${quoteGo(text)}`);
    const unit = goUnits.get(unitName);
    if (unit === undefined)
      throw new DurationError(`time: unknown unit ${quoteGo(unitName)} in duration ${quoteGo(text)}`);
    if (digits.replace(/^0+/, '').length > 19) throw invalid();
    const fraction = dotted.slice(1, 19);
    total += BigInt(digits === '' ? '0' : digits) * unit;
    if (fraction !== '') total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    if (total > maxInt64 + (isNegative ? 1n : 0n)) throw invalid();
    at += whole.length;
  }
  return isNegative ? -total : total;
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
