import { parseIPv4, formatIPv4 } from '../../../core/base/ip.js';
import { formatFloatPlain } from '../../../core/base/time/index.js';
import { formatTime, parseDate } from '../../../core/victoria/logsql/literals.js';
import {
  parseDurationNs,
  parseLogsqlDuration,
  parsePlain,
  parseSize,
} from '../../../core/victoria/logsql/numbers.js';
import { bucketFloor } from '../../../core/victoria/logsql/ops/stats.js';

const namedSizes: ReadonlyMap<string, string> = new Map([
  ['nanosecond', '1ns'],
  ['microsecond', '1µs'],
  ['millisecond', '1ms'],
  ['second', '1s'],
  ['minute', '1m'],
  ['hour', '1h'],
  ['day', '1d'],
  ['week', '1w'],
]);
const dayNs = 86_400_000_000_000n;

/** True if the text is a bucket size: a positive number, duration or size, a network mask `/24`, or a calendar word. */
export function isBucketSize(text: string): boolean {
  if (text === 'month' || text === 'year' || namedSizes.has(text)) return true;
  if (/^\/\d{1,2}$/.test(text)) return Number(text.slice(1)) <= 32;
  const value = numericSize(text);
  return value !== undefined && value > 0;
}

function numericSize(text: string): number | undefined {
  const plain = namedSizes.get(text) ?? text;
  return parsePlain(plain) ?? parseLogsqlDuration(plain) ?? parseSize(plain);
}

/** The start of the bucket for a time, with buckets `[k*size - offset, (k+1)*size - offset)`; weeks start on Mondays. */
export function timeBucketer(size: string, offsetText: string | undefined): (ns: bigint) => bigint {
  const offset = offsetText === undefined ? 0n : exactNs(offsetText);
  if (size === 'month' || size === 'year') return (ns) => calendarStart(ns + offset, size) - offset;
  // Unix time starts on a Thursday, weeks on a Monday.
  const shift = size === 'week' || size === '1w' ? offset + 3n * dayNs : offset;
  const step = exactNs(size);
  return (ns) => bucketFloor(ns, step, shift);
}

function exactNs(text: string): bigint {
  const plain = namedSizes.get(text) ?? text;
  return (
    parseDurationNs(plain) ??
    BigInt(Math.trunc(numericSize(plain) ?? numericSize(plain.replace(/^-/, '')) ?? 0))
  );
}

function calendarStart(ns: bigint, unit: 'month' | 'year'): bigint {
  const date = new Date(Number(ns / 1_000_000n));
  return BigInt(Date.UTC(date.getUTCFullYear(), unit === 'month' ? date.getUTCMonth() : 0, 1)) * 1_000_000n;
}

/** Rounds the values of an ordinary field down to buckets: times, durations, sizes, addresses and numbers keep their form. */
export function valueBucketer(size: string, offsetText: string | undefined): (value: string) => string {
  const ofTime = timeBucketer(size, offsetText);
  if (size.startsWith('/')) {
    const width = 2 ** (32 - Number(size.slice(1)));
    return (value) => {
      const address = parseIPv4(value);
      return address === undefined ? value : formatIPv4(Math.floor(address / width) * width);
    };
  }
  if (size === 'month' || size === 'year') {
    return (value) => {
      const time = value.length >= 20 ? parseDate(value) : undefined;
      return time === undefined ? value : formatTime(ofTime(time.ns));
    };
  }
  const step = numericSize(size) ?? 1;
  const offset = offsetText === undefined ? 0 : (numericSize(offsetText) ?? 0);
  const floor = (value: number): number => {
    const moved = value + offset;
    return roundNoise(Math.floor(moved / step) * step - offset);
  };
  return (value) => {
    const plain = parsePlain(value);
    if (plain !== undefined) return formatFloatPlain(floor(plain));
    const time = value.length >= 20 ? parseDate(value) : undefined;
    if (time !== undefined) return formatTime(ofTime(time.ns));
    const address = parseIPv4(value);
    if (address !== undefined) return formatIPv4(floor(address));
    const duration = parseLogsqlDuration(value);
    if (duration !== undefined) return formatDuration(floor(duration));
    return value;
  };
}

// Fractional steps produce rounding errors such as 0.30000000000000004.
function roundNoise(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}

/** Writes nanoseconds the way VictoriaLogs shows durations: `1m30s`, `1.5s`, `250ms`. */
export function formatDuration(ns: number): string {
  if (ns === 0) return '0';
  let text = ns < 0 ? '-' : '';
  let rest = Math.abs(ns);
  for (const [unit, size] of [
    ['w', 7 * 86_400e9],
    ['d', 86_400e9],
    ['h', 3_600e9],
    ['m', 60e9],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  if (rest === 0) return text;
  if (rest >= 1e9 || text.length > 1) return `${text}${formatFloatPlain(rest / 1e9)}s`;
  if (rest >= 1e6) return `${text}${formatFloatPlain(rest / 1e6)}ms`;
  return rest >= 1e3 ? `${text}${formatFloatPlain(rest / 1e3)}µs` : `${text}${formatFloatPlain(rest)}ns`;
}
