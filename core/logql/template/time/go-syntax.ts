import type { GoTime } from './go-time.js';
import { monthNames } from './names.js';

/** Go's Time.GoString: `time.Date(2024, time.June, 15, 12, 34, 56, 0, time.UTC)`. */
export function goSyntaxOf(time: GoTime): string {
  const { year, month, day } = time.date;
  const second = time.secondOfDay;
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60, time.nanosecond];
  const parts = [year, `time.${monthNames[month - 1] ?? ''}`, day, ...clock, time.zone.goName];
  return `time.Date(${parts.join(', ')})`;
}
