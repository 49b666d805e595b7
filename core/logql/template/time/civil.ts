/** A day of the Gregorian calendar, which Go extends to all years. */
export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

const daysPer400Years = 146_097;
const beforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/** Days since 1970-01-01; months and days out of range carry over, as in Go's time.Date. */
export function daysFromCivil(year: number, month: number, day: number): number {
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
export function civilFromDays(days: number): CivilDate {
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
