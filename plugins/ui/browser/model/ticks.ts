import type { TimeRange } from './time-range.js';

/** About `count` round numbers that cover the range of values. */
export function valueTicks(least: number, greatest: number, count: number): readonly number[] {
  const size = Math.max(Math.abs(least), Math.abs(greatest), 1e-100);
  const span = greatest - least;
  // Values that a double can hardly distinguish count as equal.
  const raw = (span > size * 1e-9 ? span : size) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((factor) => factor * power >= raw * 0.999_999) ?? 10) * power;
  const first = Math.floor(least / step);
  const last = Math.max(first + 1, Math.ceil(greatest / step - 1e-9));
  // Multiplied rather than summed, because sums of fractions drift.
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const timeSteps = [
  1_000, 2_000, 5_000, 10_000, 15_000, 30_000,
  minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
  day, 2 * day, 7 * day, 14 * day, 30 * day,
]; // prettier-ignore

/**
 * At most `count` round local times in a range, one more when clocks are set back. `offsetAt` returns the difference between local time and
 * UTC, which changes with daylight saving time.
 */
export function timeTicks(
  { startMs, endMs }: TimeRange,
  count: number,
  offsetAt: (ms: number) => number,
): readonly number[] {
  const least = (endMs - startMs) / Math.max(1, count);
  const step = timeSteps.find((size) => size >= least) ?? Math.ceil(least / (30 * day)) * 30 * day;
  const ticks: number[] = [];
  const offsetMs = offsetAt(startMs);
  for (let local = Math.ceil((startMs + offsetMs) / step) * step; ; local += step) {
    const ms = local - offsetAt(local - offsetMs);
    if (ms > endMs) return ticks;
    if (ms >= startMs) ticks.push(ms);
  }
}
