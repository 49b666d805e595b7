import { printGoDuration, maxInt64, minInt64 } from '../../../base/time/index.js';
import { printGoTime, GoTime, monthName, weekdayName } from '../time/go-time.js';
import { local, utc } from '../time/zone.js';
import { wrapInt, GoInt, type GoValue, type IntType } from '../values.js';
import { unixMillis, unixNanos } from './dates.js';
import { int, size, textArgument, time, type GoFunction } from './types.js';
import { durationSeconds } from './numbers.js';

/** A method, or Go's message about its results. */
export type Method = GoFunction | { readonly refused: string };

function getter(apply: () => GoValue): GoFunction {
  return { parameters: [], call: apply };
}

function whole(value: number | bigint, type: IntType = 'int'): GoInt {
  return new GoInt(BigInt(value), type);
}

/** Methods of the types that have some: times, durations, months and weekdays. */
export function methodOf(value: GoTime | GoInt, name: string): Method | undefined {
  if (value instanceof GoTime) return timeMethod(value, name);
  switch (value.type) {
    case 'time.Duration':
      return durationMethod(value.value, name);
    case 'time.Month':
      return name === 'String' ? getter(() => monthName(value.value)) : undefined;
    case 'time.Weekday':
      return name === 'String' ? getter(() => weekdayName(value.value)) : undefined;
    case 'int':
    case 'int64':
    case 'uint8':
      return undefined;
  }
}

const results = new Map([
  ['Date', 3],
  ['Clock', 3],
]);

function timeMethod(value: GoTime, name: string): Method | undefined {
  const clock = (unit: number, most: number): number => Math.floor(value.secondOfDay / unit) % most;
  const count = results.get(name);
  if (count !== undefined)
    return { refused: `function ${name} has ${String(count)} return values; should be 1 or 2` };
  switch (name) {
    case 'Year':
      return getter(() => whole(value.date.year));
    case 'Month':
      return getter(() => whole(value.date.month, 'time.Month'));
    case 'Day':
      return getter(() => whole(value.date.day));
    case 'Hour':
      return getter(() => whole(clock(3600, 24)));
    case 'Minute':
      return getter(() => whole(clock(60, 60)));
    case 'Second':
      return getter(() => whole(clock(1, 60)));
    case 'Nanosecond':
      return getter(() => whole(value.nanosecond));
    case 'YearDay':
      return getter(() => whole(value.yearDay));
    case 'Weekday':
      return getter(() => whole(value.weekday, 'time.Weekday'));
    case 'Unix':
      return getter(() => whole(value.unix, 'int64'));
    case 'UnixMilli':
      return getter(() => whole(unixMillis(value), 'int64'));
    case 'UnixMicro':
      return getter(() => wrapInt((value.nanoseconds - BigInt(value.nanosecond % 1000)) / 1000n, 'int64'));
    case 'UnixNano':
      return getter(() => whole(unixNanos(value), 'int64'));
    case 'IsZero':
      return getter(() => value.isZero);
    case 'String':
      return getter(() => value.toString());
    case 'UTC':
      return getter(() => value.in(utc));
    case 'Local':
      return getter(() => value.in(local));
    case 'Format':
      return { parameters: ['string'], call: ([layout]) => printGoTime(value, textArgument(layout)) };
    case 'Before':
      return withTime((other) => value.nanoseconds < other.nanoseconds);
    case 'After':
      return withTime((other) => value.nanoseconds > other.nanoseconds);
    case 'Equal':
      return withTime((other) => value.nanoseconds === other.nanoseconds);
    case 'Compare':
      return withTime((other) => whole(compare(value.nanoseconds, other.nanoseconds)));
    case 'Sub':
      return withTime((other) => whole(saturated(value.nanoseconds - other.nanoseconds), 'time.Duration'));
    case 'Add':
      return {
        parameters: ['time.Duration'],
        call: ([duration]) => GoTime.fromNanoseconds(value.nanoseconds + int(duration), value.zone),
      };
    case 'AddDate':
      return {
        parameters: ['int', 'int', 'int'],
        call: ([years, months, days]) => addDate(value, size(years), size(months), size(days)),
      };
    case 'ISOWeek':
    case 'Zone':
      return {
        refused: `invalid function signature for ${name}: second return value should be error; is int`,
      };
    default:
      return undefined;
  }
}

function withTime(apply: (other: GoTime) => GoValue): GoFunction {
  return { parameters: ['time.Time'], call: ([other]) => apply(time(other)) };
}

function addDate(value: GoTime, years: number, months: number, days: number): GoTime {
  const { year, month, day } = value.date;
  const date = { year: year + years, month: month + months, day: day + days };
  return GoTime.fromParts(date, value.secondOfDay, value.nanosecond, value.zone);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function saturated(value: bigint): bigint {
  if (value > maxInt64) return maxInt64;
  return value < minInt64 ? minInt64 : value;
}

function durationMethod(value: bigint, name: string): Method | undefined {
  const ofUnit = (unit: bigint): GoFunction =>
    getter(() => Number(value / unit) + Number(value % unit) / Number(unit));
  switch (name) {
    case 'Hours':
      return ofUnit(3_600_000_000_000n);
    case 'Minutes':
      return ofUnit(60_000_000_000n);
    case 'Seconds':
      return getter(() => durationSeconds(value));
    case 'Milliseconds':
      return getter(() => whole(value / 1_000_000n, 'int64'));
    case 'Microseconds':
      return getter(() => whole(value / 1_000n, 'int64'));
    case 'Nanoseconds':
      return getter(() => whole(value, 'int64'));
    case 'Abs':
      return getter(() => whole(saturated(value < 0n ? -value : value), 'time.Duration'));
    case 'String':
      return getter(() => printGoDuration(value));
    default:
      return undefined;
  }
}
