/** A `_time` that is not RFC3339 UTC: the backend violated its contract. */
export class RowTimeError extends Error {
  override readonly name = 'RowTimeError';
}

/** `2026-11-01T05:59` */
const minuteLength = 16;
const minuteShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
/** Nanoseconds of the first decimal place. */
const tenthNs = 100_000_000;

let lastMinuteText = '';
let lastMinuteNs = 0n;

/**
 * Parses the `_time` of a row to nanoseconds since the epoch.
 * @throws RowTimeError
 */
export function parseRowTime(text: string): bigint {
  // Consecutive rows mostly share their minute, and parsing the date is the expensive part.
  if (lastMinuteText === '' || !text.startsWith(lastMinuteText)) readMinute(text);
  return lastMinuteNs + BigInt(nanosecondsOfMinute(text));
}

function readMinute(text: string): void {
  const minuteText = text.slice(0, minuteLength);
  const ms = minuteShape.test(minuteText) ? Date.parse(`${minuteText}Z`) : NaN;
  if (Number.isNaN(ms)) throw malformed(text);
  lastMinuteText = minuteText;
  lastMinuteNs = BigInt(ms) * 1_000_000n;
}

/** Parses `:SS[.fraction]Z` after the minute, with up to nine digits of fraction. */
function nanosecondsOfMinute(text: string): number {
  const last = text.length - 1;
  const seconds = 10 * digitAt(text, minuteLength + 1) + digitAt(text, minuteLength + 2);
  const point = minuteLength + 3;
  const digits = last - point - 1;
  const isWhole = last === point;
  const hasFraction = text[point] === '.' && digits >= 1 && digits <= 9;
  if (text[minuteLength] !== ':' || text[last] !== 'Z' || seconds > 59 || !(isWhole || hasFraction))
    throw malformed(text);
  let nanoseconds = seconds * 1_000_000_000;
  let unit = tenthNs;
  for (let at = point + 1; at < last; at += 1) {
    nanoseconds += digitAt(text, at) * unit;
    unit /= 10;
  }
  return nanoseconds;
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48;
  if (digit >= 0 && digit <= 9) return digit;
  throw malformed(text);
}

function malformed(text: string): RowTimeError {
  return new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
}
