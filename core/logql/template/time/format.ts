import type { CivilDate } from './civil.js';
import { readLayout, type FractionLayout, type LayoutElement, type OffsetLayout } from './layout.js';
import { monthNames, weekdayNames } from './names.js';
import type { Zone } from './zone.js';

/** The parts of a time that can be printed. */
export interface ShownTime {
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
