import { badRequest } from './errors.js';

/** Borders of what fits into an int64 of nanoseconds: 1677-09-21 and 2262-04-11. */
export const MIN_NS = -(2n ** 63n);
export const MAX_NS = 2n ** 63n - 1n;

const UNIT_NS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
  ['y', 31_536_000_000_000_000n],
]);

/** Nanoseconds of a duration such as `1h30m`, `1.5m`, `-1ns`; undefined when it is none. A unit is required. */
export function parseDuration(text: string): bigint | undefined {
  const match = /^([-+]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|[smhdwy]))+)$/u.exec(text);
  if (match === null) return undefined;
  let total = 0n;
  for (const part of (match[2] ?? '').matchAll(/(\d+)(?:\.(\d+))?(ns|us|µs|μs|ms|[smhdwy])/gu)) {
    const unit = UNIT_NS.get(part[3] ?? '') ?? 0n;
    const fraction = part[2] ?? '';
    total += BigInt(part[1] ?? '0') * unit;
    if (fraction !== '') total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  return match[1] === '-' ? -total : total;
}

/**
 * Nanoseconds of a `start`, `end` or `time` argument or of an ingested time: Unix time in s, ms, us or ns (told apart by
 * magnitude), RFC3339, partial dates, `now`, `now-5m`, `-5m`. Undefined when it is none of these.
 */
export function parseTime(text: string, nowNs: bigint): bigint | undefined {
  if (text === 'now') return nowNs;
  const dated = parseDate(text);
  if (dated !== undefined) return dated;
  const unix = parseUnix(text);
  if (unix !== undefined) return unix;
  const relative = parseDuration(text.startsWith('now') ? text.slice(3) : text);
  if (relative === undefined) return undefined;
  // A bare `5m` means five minutes ago, like `-5m`; only `now+5m` looks forward.
  if (text.startsWith('now')) return nowNs + relative;
  return nowNs - (relative < 0n ? -relative : relative);
}

/** `parseTime` for a request argument: undefined when absent, an HTTP 400 when malformed. */
export function parseTimeArg(name: string, text: string, nowNs: bigint): bigint | undefined {
  if (text === '') return undefined;
  const ns = parseTime(text, nowNs);
  if (ns === undefined)
    throw badRequest(`cannot parse ${name}=${text}: cannot parse duration ${JSON.stringify(text)}`);
  return ns < MIN_NS ? MIN_NS : ns > MAX_NS ? MAX_NS : ns;
}

function parseDate(text: string): bigint | undefined {
  const match =
    /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?)?)?)?(Z|[-+]\d\d:?\d\d)?$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    fraction = '',
    zone = 'Z',
  ] = match;
  const iso = `${year ?? ''}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${iso}Z`);
  // Date rolls 2026-02-31 over to March; such a date is a mistake.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(iso)) return undefined;
  const ns = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  if (zone === 'Z') return ns;
  const digits = zone.replace(':', '');
  const offset = BigInt(Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5))) * 60_000_000_000n;
  return zone.startsWith('+') ? ns - offset : ns + offset;
}

/** Unix times are seconds below 2^32, and each further unit takes over a thousand times higher. */
function parseUnix(text: string): bigint | undefined {
  const match = /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const scale = Number(exponent) - fraction.length;
  const magnitude = scale >= 0 ? digits * 10n ** BigInt(scale) : digits / 10n ** BigInt(-scale);
  const unitZeros =
    magnitude < 2n ** 32n
      ? 9
      : magnitude < 2n ** 32n * 1000n
        ? 6
        : magnitude < 2n ** 32n * 1_000_000n
          ? 3
          : 0;
  const power = scale + unitZeros;
  const ns = power >= 0 ? digits * 10n ** BigInt(power) : digits / 10n ** BigInt(-power);
  return sign === '-' ? -ns : ns;
}

/** RFC3339 in UTC with the shortest fraction, the form of every `_time`. */
export function formatTime(ns: bigint): string {
  let below = Number(ns % 1_000_000_000n);
  if (below < 0) below += 1_000_000_000;
  const second = Number((ns - BigInt(below)) / 1_000_000_000n);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, 19);
  }
  if (below === 0) return `${lastText}Z`;
  let end = 9;
  const digits = below.toString().padStart(9, '0');
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  return `${lastText}.${digits.slice(0, end)}Z`;
}

// Rows come in time order, so most of them share their second with the row before.
let lastSecond = NaN;
let lastText = '';
const ZERO = 0x30;
