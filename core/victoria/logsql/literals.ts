import { floorTo } from '../../base/time/index.js';
import type { FieldRef } from './ast.js';
import { reservedWords } from './words-table.js';

const bareName = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const bareSize = /^-?[0-9A-Za-z.]+$|^\/[0-9]+$/;
// Characters to escape between double quotes: the quote, the backslash, control and invisible characters, lone surrogates.
const unsafe =
  /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Writes any text as a double-quoted LogsQL string; the only way to put untrusted text into a query. Lone surrogates, which UTF-8 cannot
 * encode, become U+FFFD as in any UTF-8 output.
 */
export function quoteText(text: string): string {
  return `"${text.replace(unsafe, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  switch (character) {
    case '"':
      return '\\"';
    case '\\':
      return '\\\\';
    case '\n':
      return '\\n';
    case '\t':
      return '\\t';
    case '\r':
      return '\\r';
    default: {
      const code = character.charCodeAt(0);
      const shown = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
      return `\\u${shown.toString(16).padStart(4, '0')}`;
    }
  }
}

/** Writes a field name, unquoted when it is unambiguous. */
export function quoteName(name: string): string {
  return bareName.test(name) && !reservedWords.has(name.toLowerCase()) ? name : quoteText(name);
}

/** A name with a trailing `*` at a position where the grammar parses it as a prefix even if quoted. */
export class InexpressibleNameError extends Error {
  override readonly name = 'InexpressibleNameError';
}

/**
 * Writes a field in a list such as that of `fields`, where `"a*"` means a prefix.
 * @throws InexpressibleNameError for a name that ends with `*`
 */
export function quoteListed(field: FieldRef): string {
  if (field.kind === 'prefix') {
    if (field.prefix === '') return '*';
    const name = quoteName(field.prefix);
    return name === field.prefix ? `${name}*` : quoteText(`${field.prefix}*`);
  }
  if (field.name.endsWith('*')) {
    throw new InexpressibleNameError(
      `the field name ${quoteText(field.name)} cannot be listed, since it ends with "*"`,
    );
  }
  return quoteName(field.name);
}

/** Writes a bucket size, an offset or a number; unquoted when it is unambiguous. */
export function quoteSize(text: string): string {
  return bareSize.test(text) ? text : quoteText(text);
}

export function printNanoseconds(ns: bigint): string {
  return ns % 1_000_000_000n === 0n ? `${(ns / 1_000_000_000n).toString()}s` : `${ns.toString()}ns`;
}

const nsPerSecond = 1_000_000_000n;
const nsPerHour = 3_600n * nsPerSecond;
const nsPerDay = 86_400n * nsPerSecond;

/** Smallest and largest time of the backend's 64-bit nanosecond clock. */
export const minTime = -9223372036854775808n;
export const maxTime = 9223372036854775807n;

/** Clamps a time to the backend's clock. */
export function clampTime(ns: bigint): bigint {
  if (ns < minTime) return minTime;
  return ns > maxTime ? maxTime : ns;
}

/** Formats Unix nanoseconds as RFC3339 in UTC, with the shortest fraction or with exactly `digits` digits. */
export function formatTime(ns: bigint, digits?: number): string {
  if (ns < lastHour || ns >= nextHour) {
    lastHour = floorTo(ns, nsPerHour);
    nextHour = lastHour + nsPerHour;
    lastText = new Date(Number(lastHour / 1_000_000n)).toISOString().slice(0, -10);
  }
  const within = Number(ns - lastHour);
  const second = Math.floor(within / 1e9);
  const below = within - second * 1e9;
  const text = `${lastText}${sixties[Math.floor(second / 60)] ?? ''}:${sixties[second % 60] ?? ''}`;
  if (below === 0 && digits === undefined) return `${text}Z`;
  const all = below.toString().padStart(9, '0');
  let end = digits ?? 9;
  if (digits === undefined) while (all.charCodeAt(end - 1) === zero) end -= 1;
  return end === 0 ? `${text}Z` : `${text}.${all.slice(0, end)}Z`;
}

// Rows arrive in time order, so most share their hour with the previous row.
let lastHour = 0n;
let nextHour = 0n;
let lastText = '1970-01-01T00:';
const sixties = Array.from({ length: 60 }, (_none, number) => String(number).padStart(2, '0'));

const zero = 0x30;

/** A parsed time: the first and the last nanosecond that its precision covers. */
export interface ParsedTime {
  readonly ns: bigint;
  readonly last: bigint;
}

const dateForm =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?)?)?)?)?(Z|z|[+-]\d\d:\d\d)?$/;

/** Parses RFC3339 and its shortened forms (`2026`, `2026-10-11T05`), in UTC unless a zone is given. */
export function parseDate(text: string): ParsedTime | undefined {
  const match = dateForm.exec(text);
  if (match === null) return undefined;
  const [, year = '', month, day, hour, minute, second, fraction, zone] = match;
  if (Number(month ?? 1) > 12 || Number(day ?? 1) > 31 || Number(hour ?? 0) > 23) return undefined;
  if (Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined;
  const shift = zoneSeconds(zone);
  const at = (y: number, m: number, d: number): bigint => {
    const ms = Date.UTC(y, m, d, Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
    return BigInt(ms) * 1_000_000n - BigInt(shift) * nsPerSecond + BigInt((fraction ?? '').padEnd(9, '0'));
  };
  const y = Number(year);
  const m = Number(month ?? 1) - 1;
  const d = Number(day ?? 1);
  const ns = at(y, m, d);
  if (fraction !== undefined) return { ns, last: ns + (fraction.length === 3 ? 999_999n : 0n) };
  if (second !== undefined) return { ns, last: ns + nsPerSecond - 1n };
  if (minute !== undefined) return { ns, last: ns + 60n * nsPerSecond - 1n };
  if (hour !== undefined) return { ns, last: ns + 3600n * nsPerSecond - 1n };
  if (day !== undefined) return { ns, last: ns + nsPerDay - 1n };
  return { ns, last: (month !== undefined ? at(y, m + 1, d) : at(y + 1, m, d)) - 1n };
}

function zoneSeconds(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const seconds = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60;
  return zone.startsWith('-') ? -seconds : seconds;
}
