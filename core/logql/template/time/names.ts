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
