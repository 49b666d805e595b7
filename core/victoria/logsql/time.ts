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
    lastHour = hourOf(ns);
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

/** The beginning of the hour of a time. */
function hourOf(ns: bigint): bigint {
  const within = ns % nsPerHour;
  return ns - within - (within < 0n ? nsPerHour : 0n);
}

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

/** Parses integer or decimal Unix time, guessing seconds, milliseconds, microseconds or nanoseconds from its size. */
export function parseUnixTime(text: string): bigint | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  if (/^-?\d+$/.test(text)) return scaleTime(BigInt(text));
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  const unit = scaleOf(Math.trunc(Math.abs(number)));
  const plain = /^(-?)(\d+)\.(\d+)$/.exec(text);
  if (plain === null) return BigInt(Math.round(number * Number(unit)));
  const [, sign = '', whole = '', part = ''] = plain;
  const scaled = BigInt(whole) * unit + (BigInt(part) * unit) / 10n ** BigInt(part.length);
  return sign === '' ? scaled : -scaled;
}

function scaleTime(value: bigint): bigint {
  const size = Number(value < 0n ? -value : value);
  return value * scaleOf(size);
}

function scaleOf(size: number): bigint {
  if (size < 2 ** 32) return nsPerSecond;
  if (size < 2 ** 32 * 1e3) return 1_000_000n;
  if (size < 2 ** 32 * 1e6) return 1000n;
  return 1n;
}
