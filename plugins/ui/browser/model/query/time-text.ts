import { offsetOf } from '../format.js';
import type { Zone } from '../settings.js';

/** The moment and zone in which a text is read; `isEnd` rounds `now/d` up to the end of its day, as Grafana does. */
interface Reading {
  readonly nowMs: number;
  readonly zone: Zone;
  readonly isEnd: boolean;
}

/** Maximum length of a text that names a time. */
const maxTextLength = 64;
const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof units | 'M' | 'y';

/**
 * The Unix milliseconds of a time written by a person: `now`, `now-2h`, `now-1d/d`, ISO 8601 with or without zone, or Unix seconds,
 * milliseconds, microseconds or nanoseconds by their number of digits. Undefined for any other text.
 */
export function parseTimeText(text: string, { nowMs, zone, isEnd }: Reading): number | undefined {
  const read = text.trim();
  if (read === '' || read.length > maxTextLength) return undefined;
  if (/^now/i.test(read)) return relativeTime(read, { nowMs, zone, isEnd });
  return unixTime(read) ?? isoTime(read, zone);
}

/** A time as the page stores it: a relative one as it was written, any other as ISO 8601 in UTC; empty for none. */
export function storedTimeText(text: string, zone: Zone = 'utc'): string {
  const ms = parseTimeText(text, { nowMs: 0, zone, isEnd: false });
  if (ms === undefined) return '';
  return /^\s*now/i.test(text)
    ? text.replaceAll(' ', '').replace(/^now/i, 'now')
    : new Date(ms).toISOString();
}

function relativeTime(text: string, { nowMs, zone, isEnd }: Reading): number | undefined {
  const found = /^now((?:[+-]\d{1,6}[smhdwMy])*)(?:\/([smhdwMy]))?$/.exec(
    text.replaceAll(' ', '').replace(/^now/i, 'now'),
  );
  if (found === null) return undefined;
  const [, moves = '', rounding] = found;
  let ms = nowMs;
  for (const [, sign, count, unit] of moves.matchAll(/([+-])(\d+)([smhdwMy])/g))
    ms = moved(ms, (sign === '-' ? -1 : 1) * Number(count), unitOf(unit), zone);
  if (rounding !== undefined) {
    const unit = unitOf(rounding);
    ms = flooredTo(ms, unit, zone);
    if (isEnd) ms = moved(ms, 1, unit, zone);
  }
  return Math.abs(ms) <= 8.64e15 ? ms : undefined;
}

function unitOf(text: string | undefined): Unit {
  return text === 'M' || text === 'y'
    ? text
    : ((Object.keys(units) as Unit[]).find((unit) => unit === text) ?? 's');
}

function moved(ms: number, count: number, unit: Unit, zone: Zone): number {
  if (unit !== 'M' && unit !== 'y') return ms + count * units[unit];
  return inZone(ms, zone, (date) => date.setUTCMonth(date.getUTCMonth() + count * (unit === 'M' ? 1 : 12)));
}

function flooredTo(ms: number, unit: Unit, zone: Zone): number {
  return inZone(ms, zone, (date) => {
    if (unit === 's' || unit === 'm' || unit === 'h') {
      date.setTime(Math.floor(date.getTime() / units[unit]) * units[unit]);
      return;
    }
    date.setUTCHours(0, 0, 0, 0);
    // Weeks begin on Monday.
    if (unit === 'w') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
    if (unit === 'M' || unit === 'y') date.setUTCDate(1);
    if (unit === 'y') date.setUTCMonth(0);
  });
}

/** Changes a moment by the parts that a zone's calendar shows of it. */
function inZone(ms: number, zone: Zone, change: (date: Date) => void): number {
  const date = new Date(ms + offsetOf(ms, zone));
  change(date);
  return fromZone(date.getTime(), zone);
}

/** The moment at which a zone's calendar shows these parts; asked twice, because the offset may differ there. */
function fromZone(shownMs: number, zone: Zone): number {
  const guess = shownMs - offsetOf(shownMs, zone);
  return shownMs - offsetOf(guess, zone);
}

function unixTime(text: string): number | undefined {
  if (!/^\d{9,19}(?:\.\d{1,9})?$/.test(text)) return undefined;
  const digits = text.split('.', 1)[0]?.length ?? 0;
  const value = Number(text);
  if (digits <= 11) return Math.round(value * 1_000);
  if (digits <= 14) return Math.round(value);
  return Math.round(value / (digits <= 17 ? 1e3 : 1e6));
}

const isoPattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

function isoTime(text: string, zone: Zone): number | undefined {
  const found = isoPattern.exec(text);
  if (found === null) return undefined;
  const [, day = '', time = '00:00', seconds = '00', fraction = '', offset] = found;
  const shown = `${day}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const known = offset === undefined || /^(?:z|utc)$/i.test(offset) ? 'Z' : offset;
  const ms = Date.parse(`${shown}${known.length === 5 ? `${known.slice(0, 3)}:${known.slice(3)}` : known}`);
  if (Number.isNaN(ms)) return undefined;
  return offset === undefined ? fromZone(ms, zone) : ms;
}

/** Beginning and end as texts of times. */
export interface RangeText {
  readonly from: string;
  readonly to: string;
}

/**
 * The range in a pasted text: what Grafana copies (`{"from":"now-1h","to":"now"}`), an address of Grafana or of this page with `from` and
 * `to`, or two times with `to` or `/` between them. Undefined for any other text.
 */
export function parseRangeText(text: string): RangeText | undefined {
  if (text.length > 8_192) return undefined;
  return rangeOfJson(text) ?? rangeOfAddress(text) ?? (text.length > 200 ? undefined : rangeOfTwo(text));
}

function rangeOfJson(text: string): RangeText | undefined {
  try {
    return rangeIn(JSON.parse(text) as unknown, 6);
  } catch {
    return undefined;
  }
}

/** The first `from` and `to` in a value, some levels deep: an Explore address has them in its panes. */
function rangeIn(value: unknown, levels: number): RangeText | undefined {
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  const members = new Map<string, unknown>(Object.entries(value));
  const [from, to] = [members.get('from'), members.get('to')];
  const checked = typeof from === 'string' && typeof to === 'string' ? checkedRange(from, to) : undefined;
  if (checked !== undefined) return checked;
  for (const member of members.values()) {
    const found = rangeIn(member, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function rangeOfAddress(text: string): RangeText | undefined {
  const params = new URLSearchParams(text.trim().replace(/^[^?#]*[?#]/, ''));
  const panes = params.get('panes') ?? params.get('left');
  if (panes !== null) return rangeOfJson(panes);
  return checkedRange(params.get('from') ?? '', params.get('to') ?? '');
}

function rangeOfTwo(text: string): RangeText | undefined {
  const [from, to, ...more] = text.split(/\s+(?:to|until|–|—)\s+|\s+-\s+|\s*→\s*|(?<=[\dZ])\/(?=\d)/i);
  return more.length > 0 ? undefined : checkedRange(from ?? '', to ?? '');
}

function checkedRange(from: string, to: string): RangeText | undefined {
  const isTime = (text: string): boolean => storedTimeText(text) !== '';
  return isTime(from) && isTime(to) ? { from: from.trim(), to: to.trim() } : undefined;
}
