/** A time window of a range. Times are Unix milliseconds, bounds of windows are [start, end). */

export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Cutting {
  /** Window length (`-query-range-split-interval`). */
  readonly splitMs: number;
  /** True if windows start at multiples of their length, false if they start at the start of the range. */
  readonly isAligned: boolean;
  /** Lines older than this no longer change. */
  readonly sealedMs: number;
}

/** Maximum number of windows; more would cost more than they save, so each becomes longer. */
const maxWindows = 400;
/** Number of pieces of a window that may still change, most of which no longer do. */
const pieces = 6;
/**
 * Minimum number of windows of a range for which the oldest window is read whole although only a part of it is shown: the next refresh
 * shows it too.
 */
export const fewestWidened = 4;

/**
 * The windows that overlap a range, in order, with the first and last ones whole; at least `atLeastMs` long. Empty for a range that is not
 * twice as long as a window, which is requested as a whole.
 */
export function windowsOf(
  startMs: number,
  endMs: number,
  atLeastMs: number,
  { splitMs, isAligned, sealedMs }: Cutting,
): readonly TimeWindow[] {
  const needed = Math.max(atLeastMs, (endMs - startMs) / (maxWindows - 1));
  const lengthMs = splitMs * Math.max(1, Math.ceil(needed / splitMs));
  if (endMs - startMs < 2 * lengthMs) return [];
  const originMs = isAligned ? Math.floor(startMs / lengthMs) * lengthMs : startMs;
  const windows: TimeWindow[] = [];
  for (let from = originMs; from < endMs; from += lengthMs) {
    const isDivided = from + lengthMs > sealedMs && lengthMs % pieces === 0 && lengthMs / pieces >= atLeastMs;
    const ownMs = isDivided ? lengthMs / pieces : lengthMs;
    for (let at = from; at < from + lengthMs && at < endMs; at += ownMs)
      if (at + ownMs > startMs) windows.push({ startMs: at, endMs: at + ownMs });
  }
  return windows;
}

/** A range of steps in a window, from the first to the last step, both included. */
export interface StepRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The steps in a window, at multiples of the step; undefined for none. */
export function stepsIn({ startMs, endMs }: TimeWindow, stepMs: number): StepRange | undefined {
  const firstMs = Math.ceil(startMs / stepMs) * stepMs;
  const lastMs = (Math.ceil(endMs / stepMs) - 1) * stepMs;
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}

export function commonSteps(a: StepRange, b: StepRange): StepRange | undefined {
  const [firstMs, lastMs] = [Math.max(a.firstMs, b.firstMs), Math.min(a.lastMs, b.lastMs)];
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}
