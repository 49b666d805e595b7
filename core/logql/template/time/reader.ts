import type { OffsetLayout } from './layout.js';
import { monthNames, weekdayNames } from './names.js';

const names = {
  month: { long: monthNames, short: monthNames.map((name) => name.slice(0, 3)) },
  weekday: { long: weekdayNames, short: weekdayNames.map((name) => name.slice(0, 3)) },
};

/** Reads the parts of a printed time from left to right; undefined for text that does not fit. */
export class TimeReader {
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
