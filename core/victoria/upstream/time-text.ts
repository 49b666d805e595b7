import { clampTime, formatTime } from '../logsql/time.js';

// The backend guesses the unit of a bare number from its size; smaller numbers would not be taken as nanoseconds.
const firstPlainNs = 10n ** 18n;

/**
 * The only place that formats a time for the backend. Computed times, such as the end of a window, may lie outside the backend's 64-bit
 * clock; no row does.
 */
export function timeText(ns: bigint): string {
  const known = clampTime(ns);
  return known >= firstPlainNs ? known.toString() : formatTime(known, 9);
}
