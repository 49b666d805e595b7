import { daysBefore, daysIn, isLeap, GoTime, monthNames, weekdayNames } from './go-time.js';
import { readLayout, type LayoutElement, type OffsetLayout } from './layout.js';
import { fixedZone, utc, type Zone } from './zone.js';

/** The values read so far; undefined where the layout has no such element. */
interface Draft {
  year: number;
  month?: number;
  day?: number;
  yearDay?: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  half?: 'am' | 'pm';
  isUtc?: boolean;
  offset?: number;
  zoneName?: string;
}

/** Go's time.ParseInLocation; undefined when Go returns an error. */
export function parseGoTime(layout: string, text: string, zone: Zone): GoTime | undefined {
  const { texts, elements } = readLayout(layout);
  const reader = new TimeReader(text);
  const draft: Draft = { year: 0, hour: 0, minute: 0, second: 0, nanosecond: 0 };
  if (!reader.skip(texts[0] ?? '')) return undefined;
  for (const [index, element] of elements.entries()) {
    const isBeforeFraction = elements[index + 1]?.kind === 'fraction';
    if (!readElement(reader, element, draft, isBeforeFraction)) return undefined;
    if (!reader.skip(texts[index + 1] ?? '')) return undefined;
  }
  return reader.isAtEnd ? finish(draft, zone) : undefined;
}

/** Reads one element of the layout; false for text that does not fit. */
function readElement(
  reader: TimeReader,
  element: LayoutElement,
  draft: Draft,
  isBeforeFraction: boolean,
): boolean {
  switch (element.kind) {
    case 'year': {
      const year = reader.fixedNumber(2);
      if (year === undefined) return false;
      draft.year = year >= 69 ? year + 1900 : year + 2000;
      return true;
    }
    case 'longYear': {
      const year = reader.fixedNumber(4);
      if (year === undefined) return false;
      draft.year = year;
      return true;
    }
    case 'month':
    case 'longMonth': {
      const index = reader.name('month', element.kind === 'longMonth');
      draft.month = (index ?? 0) + 1;
      return index !== undefined;
    }
    case 'numMonth':
    case 'zeroMonth':
      draft.month = reader.number(element.kind === 'zeroMonth') ?? 0;
      return draft.month >= 1 && draft.month <= 12;
    case 'weekDay':
    case 'longWeekDay':
      return reader.name('weekday', element.kind === 'longWeekDay') !== undefined;
    case 'day':
    case 'underDay':
    case 'zeroDay': {
      if (element.kind === 'underDay') reader.skipOne(' ');
      const day = reader.number(element.kind === 'zeroDay');
      draft.day = day ?? 0;
      return day !== undefined;
    }
    case 'underYearDay':
    case 'zeroYearDay': {
      if (element.kind === 'underYearDay') for (let spaces = 0; spaces < 2; spaces++) reader.skipOne(' ');
      const day = reader.dayOfYear(element.kind === 'zeroYearDay');
      draft.yearDay = day ?? 0;
      return day !== undefined;
    }
    case 'hour':
      return within(reader.number(false), 23, (hour) => (draft.hour = hour));
    case 'hour12':
    case 'zeroHour12':
      return within(reader.number(element.kind === 'zeroHour12'), 12, (hour) => (draft.hour = hour));
    case 'minute':
    case 'zeroMinute':
      return within(reader.number(element.kind === 'zeroMinute'), 59, (minute) => (draft.minute = minute));
    case 'second':
    case 'zeroSecond': {
      const isRead = within(
        reader.number(element.kind === 'zeroSecond'),
        59,
        (second) => (draft.second = second),
      );
      // A fraction may follow even if the layout has none.
      if (isRead && !isBeforeFraction) draft.nanosecond = reader.anyFraction() ?? draft.nanosecond;
      return isRead;
    }
    case 'PM':
    case 'pm': {
      const half = reader.take(2);
      const [am, pm] = element.kind === 'PM' ? ['AM', 'PM'] : ['am', 'pm'];
      if (half !== am && half !== pm) return false;
      draft.half = half === pm ? 'pm' : (draft.half ?? 'am');
      return true;
    }
    case 'zoneName':
      if (reader.takeIf('UTC')) {
        draft.isUtc = true;
        return true;
      }
      draft.zoneName = reader.zoneName() ?? '';
      return draft.zoneName !== '';
    case 'offset': {
      if (element.hasZ && reader.takeIf('Z')) {
        draft.isUtc = true;
        return true;
      }
      const offset = reader.offset(element);
      if (offset !== undefined) draft.offset = offset;
      return offset !== undefined;
    }
    case 'fraction': {
      const nanosecond = element.isTrimmed ? reader.anyFraction() : reader.fraction(element.digits + 1);
      if (nanosecond === undefined) return element.isTrimmed;
      draft.nanosecond = nanosecond;
      return true;
    }
  }
}

function within(value: number | undefined, most: number, set: (value: number) => void): boolean {
  if (value === undefined || value > most) return false;
  set(value);
  return true;
}

function finish(draft: Draft, zone: Zone): GoTime | undefined {
  const date = dateOf(draft);
  if (date === undefined || date.day < 1 || date.day > daysIn(date.month, draft.year)) return undefined;
  let { hour } = draft;
  if (draft.half === 'pm' && hour < 12) hour += 12;
  else if (draft.half === 'am' && hour === 12) hour = 0;
  const second = hour * 3600 + draft.minute * 60 + draft.second;
  const make = (at: Zone): GoTime =>
    GoTime.fromParts({ year: draft.year, month: date.month, day: date.day }, second, draft.nanosecond, at);
  if (draft.isUtc === true) return make(utc);
  const shown = make(utc);
  const { offset, zoneName = '' } = draft;
  // Go uses -1 second to mean "no offset".
  if (offset !== undefined && offset !== -1) {
    const meant = new GoTime(shown.unix - offset, shown.nanosecond, zone);
    const known = zone.at(meant.unix);
    const isKnown = known.offset === offset && (zoneName === '' || known.name === zoneName);
    return isKnown ? meant : meant.in(fixedZone(zoneName, offset));
  }
  if (zoneName === '') return make(zone);
  const known = zone.offsetOf(zoneName, shown.unix);
  if (known !== undefined) return new GoTime(shown.unix - known, shown.nanosecond, zone);
  const hours = /^GMT([+-][0-9]+)$/.exec(zoneName)?.[1];
  return shown.in(fixedZone(zoneName, hours === undefined ? 0 : Number(hours) * 3600));
}

function dateOf({ year, month, day, yearDay }: Draft): { month: number; day: number } | undefined {
  if (yearDay === undefined) return { month: month ?? 1, day: day ?? 1 };
  const found = dateOfYearDay(year, yearDay);
  if (found === undefined || (month ?? found.month) !== found.month) return undefined;
  return (day ?? found.day) === found.day ? found : undefined;
}

function dateOfYearDay(year: number, yearDay: number): { month: number; day: number } | undefined {
  if (isLeap(year) && yearDay === 60) return { month: 2, day: 29 };
  const plain = isLeap(year) && yearDay > 60 ? yearDay - 1 : yearDay;
  if (plain < 1 || plain > 365) return undefined;
  let month = 1;
  while (daysBefore(month + 1) < plain) month++;
  return { month, day: plain - daysBefore(month) };
}

const names = {
  month: { long: monthNames, short: monthNames.map((name) => name.slice(0, 3)) },
  weekday: { long: weekdayNames, short: weekdayNames.map((name) => name.slice(0, 3)) },
};

/** Reads the parts of a printed time from left to right; undefined for text that does not fit. */
class TimeReader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text;
  }

  get isAtEnd(): boolean {
    return this.#rest === '';
  }

  /** Skips a text of the layout; a run of spaces matches any run, or none at the end of the text. */
  skip(text: string): boolean {
    for (let at = 0; at < text.length;) {
      if (text[at] === ' ') {
        if (this.#rest !== '' && !this.#rest.startsWith(' ')) return false;
        while (text[at] === ' ') at++;
        this.#rest = this.#rest.replace(/^ +/, '');
      } else if (!this.takeIf(text.charAt(at++))) return false;
    }
    return true;
  }

  skipOne(char: string): void {
    this.takeIf(char);
  }

  takeIf(text: string): boolean {
    if (!this.#rest.startsWith(text)) return false;
    this.#rest = this.#rest.slice(text.length);
    return true;
  }

  take(length: number): string {
    const text = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return text;
  }

  #match(pattern: RegExp): string | undefined {
    const text = pattern.exec(this.#rest)?.[0];
    if (text !== undefined) this.#rest = this.#rest.slice(text.length);
    return text;
  }

  /** Exactly `digits` digits. */
  fixedNumber(digits: 2 | 4): number | undefined {
    const text = this.#match(digits === 2 ? /^[0-9]{2}/ : /^[0-9]{4}/);
    return text === undefined ? undefined : Number(text);
  }

  /** One or two digits; exactly two when fixed. */
  number(isFixed: boolean): number | undefined {
    const text = this.#match(isFixed ? /^[0-9]{2}/ : /^[0-9]{1,2}/);
    return text === undefined ? undefined : Number(text);
  }

  dayOfYear(isFixed: boolean): number | undefined {
    const text = this.#match(isFixed ? /^[0-9]{3}/ : /^[0-9]{1,3}/);
    return text === undefined ? undefined : Number(text);
  }

  /** The index of a name, case-insensitive. */
  name(kind: 'month' | 'weekday', isLong: boolean): number | undefined {
    const list = isLong ? names[kind].long : names[kind].short;
    const index = list.findIndex(
      (name) => this.#rest.slice(0, name.length).toLowerCase() === name.toLowerCase(),
    );
    if (index < 0) return undefined;
    this.take(list[index]?.length ?? 0);
    return index;
  }

  /** `.` or `,` and any number of digits, as nanoseconds. */
  anyFraction(): number | undefined {
    const text = this.#match(/^[.,][0-9]+/);
    return text === undefined ? undefined : nanosecondsOf(text);
  }

  /** `.` or `,` and digits, `length` characters in total. */
  fraction(length: number): number | undefined {
    const text = this.take(length);
    return text.length === length && /^[.,][0-9]+$/.test(text) ? nanosecondsOf(text) : undefined;
  }

  /** Seconds east of UTC. */
  offset({ hasColons, parts }: OffsetLayout): number | undefined {
    const separator = hasColons ? ':' : '';
    const pattern = `^([+-])([0-9]{2})${`${separator}([0-9]{2})`.repeat(parts - 1)}`;
    const match = new RegExp(pattern).exec(this.#rest);
    if (match === null) return undefined;
    const [all, sign, hours, minutes = '0', seconds = '0'] = match;
    this.take(all.length);
    if (Number(hours) > 24 || Number(minutes) > 60 || Number(seconds) > 60) return undefined;
    const size = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return sign === '-' ? -size : size;
  }

  /** Text that looks like a time zone abbreviation. */
  zoneName(): string | undefined {
    const signed = /^(?:GMT)?(?:[+-][0-9]+)?/.exec(this.#rest)?.[0] ?? '';
    if (this.#rest.startsWith('GMT')) return this.take(zoneHours(signed.slice(3)) > 23 ? 3 : signed.length);
    if (signed !== '')
      return zoneHours(signed) > 23 || this.#rest.length < 3 ? undefined : this.take(signed.length);
    return this.#match(
      /^(?:ChST|MeST|WITA(?![A-Z])|[A-Z]{4}T(?![A-Z])|[A-Z]{3}T(?![A-Z])|[A-Z]{3}(?![A-Z]))/,
    );
  }
}

function zoneHours(signed: string): number {
  return Math.abs(Number(signed || '0'));
}

function nanosecondsOf(text: string): number {
  return Number(text.slice(1, 10).padEnd(9, '0'));
}
