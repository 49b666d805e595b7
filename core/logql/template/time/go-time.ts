import { local, utc, type Zone } from './zone.js';
import { readLayout, type FractionLayout, type LayoutElement, type OffsetLayout } from './layout.js';

const secondsPerDay = 86_400;
/** Seconds from the year 1, Go's epoch, to 1970. */
export const unixOfYearOne = -62_135_596_800;
const billion = 1_000_000_000n;

/** Go's time.Time. */
export class GoTime {
  readonly kind = 'time';
  /** Seconds since 1970. */
  readonly unix: number;
  /** 0 to 999999999. */
  readonly nanosecond: number;
  readonly zone: Zone;
  /** Monotonic clock in nanoseconds, which `now` has and prints. */
  readonly monotonic: bigint | undefined;

  constructor(unix: number, nanosecond: number, zone: Zone, monotonic?: bigint) {
    this.unix = unix;
    this.nanosecond = nanosecond;
    this.zone = zone;
    this.monotonic = monotonic;
  }

  static fromNanoseconds(nanoseconds: bigint, zone: Zone = local): GoTime {
    let seconds = nanoseconds / billion;
    let rest = nanoseconds % billion;
    if (rest < 0n) {
      seconds -= 1n;
      rest += billion;
    }
    return new GoTime(Number(seconds), Number(rest), zone);
  }

  /** The time at which clocks of the zone show these values; values out of range carry over. */
  static fromParts(date: CivilDate, secondOfDay: number, nanosecond: number, zone: Zone): GoTime {
    const shown = daysFromCivil(date.year, date.month, date.day) * secondsPerDay + secondOfDay;
    const { offset } = zone.at(shown);
    // This offset is valid at the shown time; near a change, the actual time may have another.
    return new GoTime(offset === 0 ? shown : shown - zone.at(shown - offset).offset, nanosecond, zone);
  }

  get nanoseconds(): bigint {
    return BigInt(this.unix) * billion + BigInt(this.nanosecond);
  }

  get offset(): number {
    return this.zone.at(this.unix).offset;
  }

  get days(): number {
    return Math.floor((this.unix + this.offset) / secondsPerDay);
  }

  get date(): CivilDate {
    return civilFromDays(this.days);
  }

  get secondOfDay(): number {
    return this.unix + this.offset - this.days * secondsPerDay;
  }

  get weekday(): number {
    return (((this.days + 4) % 7) + 7) % 7;
  }

  /** 1 to 366. */
  get yearDay(): number {
    return this.days - daysFromCivil(this.date.year, 1, 1) + 1;
  }

  get isZero(): boolean {
    return this.unix === unixOfYearOne && this.nanosecond === 0;
  }

  in(zone: Zone): GoTime {
    return new GoTime(this.unix, this.nanosecond, zone, this.monotonic);
  }

  toString(): string {
    const shown = printGoTime(this, '2006-01-02 15:04:05.999999999 -0700 MST');
    if (this.monotonic === undefined) return shown;
    const size = this.monotonic.toString().padStart(10, '0');
    return `${shown} m=+${size.slice(0, -9)}.${size.slice(-9)}`;
  }
}

/** Go's zero time. */
export const zeroTime = new GoTime(unixOfYearOne, 0, utc);

/** A day of the Gregorian calendar, which Go extends to all years. */
interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

const daysPer400Years = 146_097;
const beforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/** Days since 1970-01-01; months and days out of range carry over, as in Go's time.Date. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = year + Math.floor((month - 1) / 12);
  const inYear = (((month - 1) % 12) + 12) % 12;
  // Years start in March, so that the leap day comes last.
  const start = inYear < 2 ? shifted - 1 : shifted;
  const era = Math.floor(start / 400);
  const yearOfEra = start - era * 400;
  const dayOfYear = Math.floor((153 * ((inYear + 10) % 12) + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * daysPer400Years + dayOfEra - 719_468 + day - 1;
}

/** The date of a day since 1970-01-01. */
function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / daysPer400Years);
  const dayOfEra = shifted - era * daysPer400Years;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

export function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days before the month (1 to 13) in a non-leap year. */
export function daysBefore(month: number): number {
  return beforeMonth[month - 1] ?? 0;
}

export function daysIn(month: number, year: number): number {
  return month === 2 && isLeap(year) ? 29 : daysBefore(month + 1) - daysBefore(month);
}

export const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
export const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Go's time.Month.String: counts from 1. */
export function monthName(month: bigint): string {
  return monthNames[Number(month) - 1] ?? `%!Month(${BigInt.asUintN(64, month).toString()})`;
}

/** Go's time.Weekday.String: counts from Sunday, 0. */
export function weekdayName(day: bigint): string {
  return weekdayNames[Number(day)] ?? `%!Weekday(${BigInt.asUintN(64, day).toString()})`;
}

/** The parts of a time that can be printed. */
interface ShownTime {
  readonly unix: number;
  readonly nanosecond: number;
  readonly zone: Zone;
  readonly offset: number;
  readonly date: CivilDate;
  readonly secondOfDay: number;
  readonly weekday: number;
  readonly yearDay: number;
}

/** Go's Time.Format. */
export function printGoTime(time: ShownTime, layout: string): string {
  const { texts, elements } = readLayout(layout);
  let out = texts[0] ?? '';
  elements.forEach((element, index) => {
    out += formatElement(time, element) + (texts[index + 1] ?? '');
  });
  return out;
}

function formatElement(time: ShownTime, element: LayoutElement): string {
  switch (element.kind) {
    case 'longMonth':
      return monthNames[time.date.month - 1] ?? '';
    case 'month':
      return (monthNames[time.date.month - 1] ?? '').slice(0, 3);
    case 'numMonth':
      return String(time.date.month);
    case 'zeroMonth':
      return padded(time.date.month, 2);
    case 'longWeekDay':
      return weekdayNames[time.weekday] ?? '';
    case 'weekDay':
      return (weekdayNames[time.weekday] ?? '').slice(0, 3);
    case 'day':
      return String(time.date.day);
    case 'underDay':
      return String(time.date.day).padStart(2);
    case 'zeroDay':
      return padded(time.date.day, 2);
    case 'underYearDay':
      return String(time.yearDay).padStart(3);
    case 'zeroYearDay':
      return padded(time.yearDay, 3);
    case 'hour':
      return padded(hourOf(time), 2);
    case 'hour12':
      return String(hourOf(time) % 12 || 12);
    case 'zeroHour12':
      return padded(hourOf(time) % 12 || 12, 2);
    case 'minute':
      return String(minuteOf(time));
    case 'zeroMinute':
      return padded(minuteOf(time), 2);
    case 'second':
      return String(time.secondOfDay % 60);
    case 'zeroSecond':
      return padded(time.secondOfDay % 60, 2);
    case 'longYear':
      return padded(time.date.year, 4);
    case 'year':
      return padded(Math.abs(time.date.year) % 100, 2);
    case 'PM':
      return hourOf(time) >= 12 ? 'PM' : 'AM';
    case 'pm':
      return hourOf(time) >= 12 ? 'pm' : 'am';
    case 'zoneName': {
      const { name, offset } = time.zone.at(time.unix);
      return name === '' ? formatOffset(offset, { hasZ: false, hasColons: false, parts: 2 }) : name;
    }
    case 'offset':
      return formatOffset(time.offset, element);
    case 'fraction':
      return formatFraction(time.nanosecond, element);
  }
}

function hourOf(time: ShownTime): number {
  return Math.floor(time.secondOfDay / 3600);
}

function minuteOf(time: ShownTime): number {
  return Math.floor(time.secondOfDay / 60) % 60;
}

function padded(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width, '0')}` : String(value).padStart(width, '0');
}

function formatOffset(offset: number, { hasZ, hasColons, parts }: Omit<OffsetLayout, 'kind'>): string {
  if (hasZ && offset === 0) return 'Z';
  const size = Math.abs(offset);
  // An offset of less than a minute west of UTC counts as zero.
  const sign = Math.trunc(offset / 60) < 0 ? '-' : '+';
  const numbers = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60].slice(0, parts);
  return sign + numbers.map((part) => padded(part, 2)).join(hasColons ? ':' : '');
}

function formatFraction(nanosecond: number, { separator, digits, isTrimmed }: FractionLayout): string {
  const text = padded(nanosecond, 9).slice(0, Math.min(digits, 9));
  if (!isTrimmed) return separator + text;
  const trimmed = text.replace(/0+$/, '');
  return trimmed === '' ? '' : separator + trimmed;
}
