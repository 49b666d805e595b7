/** The time range of a query: its length, its text, and its neighbours. */
import { formatDay, formatMoment, formatSecond } from '../format.js';
import type { QueryState, RangeName } from '../query-state.js';
import type { Zone } from '../settings.js';
import type { TimeRange } from '../time-range.js';
import { parseTimeText } from './time-text.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The lengths of the ranges that end now, in milliseconds. */
export const rangeLengths: Readonly<Record<Exclude<RangeName, 'custom'>, number>> = {
  '5m': 5 * minute,
  '15m': 15 * minute,
  '30m': 30 * minute,
  '1h': hour,
  '3h': 3 * hour,
  '6h': 6 * hour,
  '12h': 12 * hour,
  '24h': day,
  '2d': 2 * day,
  '7d': 7 * day,
  '30d': 30 * day,
};

export const rangeTexts: Readonly<Record<RangeName, string>> = {
  '5m': 'Last 5 minutes',
  '15m': 'Last 15 minutes',
  '30m': 'Last 30 minutes',
  '1h': 'Last hour',
  '3h': 'Last 3 hours',
  '6h': 'Last 6 hours',
  '12h': 'Last 12 hours',
  '24h': 'Last 24 hours',
  '2d': 'Last 2 days',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  custom: 'Between two times',
};

/** The fields of a query that give its range. */
export type AskedRange = Pick<QueryState, 'range' | 'from' | 'to'>;

/** The range of a query run now; for an invalid custom range, a text that explains why. */
export function rangeOf(
  { range, from, to }: AskedRange,
  nowMs: number,
  zone: Zone = 'browser',
): TimeRange | string {
  if (range !== 'custom') return { startMs: nowMs - rangeLengths[range], endMs: nowMs };
  const startMs = parseTimeText(from, { nowMs, zone, isEnd: false });
  const endMs = parseTimeText(to, { nowMs, zone, isEnd: true });
  if (startMs === undefined)
    return from.trim() === '' ? 'A custom range needs a beginning.' : unknownTime('beginning', from);
  if (endMs === undefined) return to.trim() === '' ? 'A custom range needs an end.' : unknownTime('end', to);
  return startMs < endMs ? { startMs, endMs } : 'A custom range must begin before it ends.';
}

function unknownTime(edge: string, text: string): string {
  return `The ${edge} “${text.slice(0, 40)}” is not a time. Write now-2h, 2026-01-31 12:00, or Unix seconds.`;
}

/** The text of a range on the button that changes it. */
export function rangeLabel({ range, from, to }: AskedRange, zone: Zone): string {
  if (range !== 'custom') return rangeTexts[range];
  if (/^now/.test(from) || /^now/.test(to)) return `${timeLabel(from, zone)} to ${timeLabel(to, zone)}`;
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(startMs) || Number.isNaN(endMs)) return rangeTexts.custom;
  const isOneDay = formatDay(startMs, zone) === formatDay(endMs, zone);
  return `${formatMoment(startMs, zone)} to ${isOneDay ? formatSecond(endMs, zone) : formatMoment(endMs, zone)}`;
}

/** A range that is as short as a telephone needs it. */
export function shortRangeLabel({ range, from, to }: AskedRange): string {
  if (range !== 'custom') return range;
  return /^now-\w+$/.test(from) && to === 'now' ? from.slice(4) : 'custom';
}

function timeLabel(text: string, zone: Zone): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : formatMoment(ms, zone);
}

/** The range half its length earlier or later. */
export function shiftedRange({ startMs, endMs }: TimeRange, direction: -1 | 1): TimeRange {
  const step = Math.max(1, Math.round((endMs - startMs) / 2)) * direction;
  return { startMs: startMs + step, endMs: endMs + step };
}

/** A range of two fixed times. */
export function fixedRange({ startMs, endMs }: TimeRange): AskedRange {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { range: 'custom', from: iso(startMs), to: iso(endMs) };
}

/** The last milliseconds up to now, by name if there is one. */
export function lastRange(lengthMs: number): AskedRange {
  for (const [name, length] of Object.entries(rangeLengths))
    if (length === lengthMs) return { range: name as RangeName, from: '', to: '' };
  return { range: 'custom', from: `now-${Math.max(1, Math.round(lengthMs / 1000))}s`, to: 'now' };
}

/** Twice the length: around the middle of fixed times, and back from now for a range that ends now. */
export function zoomedOut(asked: AskedRange, nowMs: number, zone: Zone): AskedRange {
  const range = rangeOf(asked, nowMs, zone);
  if (typeof range === 'string') return asked;
  const length = range.endMs - range.startMs;
  if (range.endMs >= nowMs) return lastRange(2 * length);
  const endMs = Math.min(nowMs, Math.round(range.endMs + length / 2));
  return fixedRange({ startMs: endMs - 2 * length, endMs });
}

/** The shortest named range that contains a moment. */
export function rangeThatReaches(ms: number, nowMs: number): AskedRange {
  const [name] = Object.entries(rangeLengths).find(([, length]) => nowMs - length <= ms) ?? [];
  return name === undefined
    ? fixedRange({ startMs: ms - hour / 2, endMs: ms + hour / 2 })
    : { range: name as RangeName, from: '', to: '' };
}
