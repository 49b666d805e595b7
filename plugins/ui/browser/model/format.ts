/** Formats numbers and times for the page. */
import type { Zone } from './settings.js';
import type { TimeRange } from './time-range.js';
import type { ValueUnit } from './wire.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** `1,234`. */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** `1.2k`, for axes and narrow columns. */
export function formatShort(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  for (const [unit, factor] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const) {
    if (size >= factor) return `${trim((value / factor).toPrecision(3))}${unit}`;
  }
  return size >= 0.001 || size === 0 ? trim(value.toPrecision(3)) : value.toExponential(1);
}

function trim(digits: string): string {
  return digits.includes('.') && !digits.includes('e') ? digits.replace(/\.?0+$/, '') : digits;
}

/** Milliseconds with a sensible number of digits: `0.02`, `3.4`, `128`. */
export function formatMs(ms: number): string {
  if (ms < 0.005) return '0';
  if (ms < 1) return ms.toFixed(2);
  return ms < 100 ? ms.toFixed(1) : formatCount(ms);
}

/** `1.2 MB`. */
export function formatBytes(bytes: number): string {
  for (const [unit, factor] of [
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const) {
    if (bytes >= factor) return `${(bytes / factor).toFixed(1)} ${unit}`;
  }
  return `${formatCount(bytes)} B`;
}

/** A value of a metric query in its unit: `1.2 MB/s`, `12/s`, `340 ms`; a plain number as `formatShort` has it. */
export function formatValue(value: number, unit: ValueUnit): string {
  if (!Number.isFinite(value) || unit === 'none') return formatShort(value);
  switch (unit) {
    case 'per-second':
      return `${formatShort(value)}/s`;
    case 'bytes':
      return sizeText(value);
    case 'bytes-per-second':
      return `${sizeText(value)}/s`;
    case 'seconds':
      return durationText(value);
  }
}

function sizeText(bytes: number): string {
  for (const [unit, factor] of [
    ['TB', 1e12],
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const) {
    if (Math.abs(bytes) >= factor) return `${trim((bytes / factor).toPrecision(3))} ${unit}`;
  }
  return `${trim(bytes.toPrecision(3))} B`;
}

function durationText(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  for (const [unit, factor] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
    ['ms', 1e-3],
    ['µs', 1e-6],
  ] as const) {
    if (size >= factor) return `${trim((seconds / factor).toPrecision(3))} ${unit}`;
  }
  return `${trim((seconds * 1e9).toPrecision(3))} ns`;
}

/** `1 line`, `1,234 lines`. */
export function formatCounted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A duration in its two most significant units: `3 d 4 h`, `12 min`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

function pad(value: number, digits = 2): string {
  return String(value).padStart(digits, '0');
}

/** Time of day to the millisecond. */
export function formatTime(ms: number, zone: Zone = 'browser'): string {
  return `${formatSecond(ms, zone)}.${pad(new Date(ms).getMilliseconds(), 3)}`;
}

/** Time of day to the second. */
export function formatSecond(ms: number, zone: Zone = 'browser'): string {
  const date = shifted(ms, zone);
  return `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`;
}

/** Date. */
export function formatDay(ms: number, zone: Zone = 'browser'): string {
  const date = shifted(ms, zone);
  return `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
}

/** Date and time of day to the second. */
export function formatMoment(ms: number, zone: Zone = 'browser'): string {
  return `${formatDay(ms, zone)} ${formatSecond(ms, zone)}`;
}

/** A date whose UTC parts are those of the zone. */
function shifted(ms: number, zone: Zone): Date {
  return new Date(ms + offsetOf(ms, zone));
}

/** Milliseconds that a zone is ahead of UTC at a moment. */
export function offsetOf(ms: number, zone: Zone): number {
  return zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/**
 * A time below an axis: the time of day, as exactly as the range requires, or at midnight the day; among months the month, with the year where
 * it begins.
 */
export function formatTick(
  ms: number,
  { startMs, endMs }: TimeRange,
  areMonths: boolean,
  zone: Zone = 'browser',
): string {
  const date = shifted(ms, zone);
  const month = months[date.getUTCMonth()] ?? '';
  if (areMonths) return date.getUTCMonth() === 0 ? String(date.getUTCFullYear()) : month;
  const time = formatSecond(ms, zone);
  if (time === '00:00:00') return `${weekdays[date.getUTCDay()] ?? ''} ${date.getUTCDate()} ${month}`;
  return time.slice(0, endMs - startMs < 300_000 ? 8 : 5);
}

/** A time in the format of a form field, with a precision of seconds. */
export function toLocalField(iso: string, zone: Zone = 'browser'): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? '' : `${formatDay(ms, zone)}T${formatSecond(ms, zone)}`;
}

/** The time in a form field; empty for none. */
export function fromLocalField(text: string, zone: Zone = 'browser'): string {
  const ms = Date.parse(zone === 'utc' && text !== '' ? `${text}Z` : text);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}

/** A sentence with a full stop. */
export function sentence(text: string): string {
  return text === '' || /[.!?:]$/.test(text) ? text : `${text}.`;
}

/** `0.4 s`, `12 s`, `1:05 min`: the time since something started. */
export function formatElapsed(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  return `${Math.floor(seconds / 60)}:${pad(Math.floor(seconds) % 60)} min`;
}
