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
/** 1970-01-05, a Monday. */
const monday = 4 * day;
const steps = [
  1_000, 2_000, 5_000, 10_000, 15_000, 30_000,
  minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
  day, 2 * day, 7 * day, 14 * day,
]; // prettier-ignore
const monthSteps = [1, 2, 3, 6, 12];

/** The times below an axis, in Unix milliseconds. */
export interface TimeAxis {
  readonly ticks: readonly number[];
  /** True if they are firsts of months. */
  readonly areMonths: boolean;
}

/**
 * At most `count` round local times in a range: whole times of day, midnights, Mondays or firsts of months. `offsetAt` returns the difference
 * between local time and UTC, which changes with daylight saving time; a time that a change of clocks leaves out has no tick.
 */
export function timeTicks(
  { startMs, endMs }: TimeRange,
  count: number,
  offsetAt: (ms: number) => number,
): TimeAxis {
  const least = (endMs - startMs) / Math.max(1, count);
  const step = steps.find((size) => size >= least);
  const [from, to] = [startMs + offsetAt(startMs), endMs + offsetAt(endMs)];
  const locals = step === undefined ? monthsIn(from, to, count) : wholeSteps(from, to, step);
  const ticks = locals
    .flatMap((local) => instantOf(local, offsetAt))
    .filter((ms) => ms >= startMs && ms <= endMs);
  return { ticks, areMonths: step === undefined };
}

/** The multiples of a step in a span of local time; weeks begin on Monday. */
function wholeSteps(from: number, to: number, step: number): readonly number[] {
  const origin = step % (7 * day) === 0 ? monday : 0;
  const locals: number[] = [];
  // Clocks that are set back show an hour twice.
  for (
    let local = Math.ceil((from - hour - origin) / step) * step + origin;
    local <= to + hour;
    local += step
  )
    locals.push(local);
  return locals;
}

/** The firsts of months in a span of local time, as many months apart as leave at most `count`. */
function monthsIn(from: number, to: number, count: number): readonly number[] {
  const months = (to - from) / (30.4 * day);
  const step = monthSteps.find((size) => months / size <= count) ?? 12 * Math.ceil(months / 12 / count);
  const locals: number[] = [];
  const first = new Date(from);
  for (let month = 0; ; month += step) {
    const local = Date.UTC(first.getUTCFullYear(), Math.ceil(first.getUTCMonth() / step) * step + month);
    if (local > to + day) return locals;
    locals.push(local);
  }
}

/** The instant of a local time; none where clocks are set over it. */
function instantOf(local: number, offsetAt: (ms: number) => number): readonly number[] {
  for (const ms of [local - offsetAt(local - day), local - offsetAt(local + day)]) {
    if (ms + offsetAt(ms) === local) return [ms];
  }
  return [];
}
