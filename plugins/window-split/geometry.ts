/** Cuts a range into windows. Times are Unix milliseconds, bounds of windows are [start, end). */

export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Cutting {
  /** `-query-range-split-interval` */
  readonly splitMs: number;
  /** Windows begin at multiples of their length, or else at the start of the range. */
  readonly isAligned: boolean;
  /** Lines older than this no longer change. */
  readonly sealedMs: number;
}

/** More windows than this cost more than they save: then each is longer. */
const maxWindows = 400;
/** The number of parts of a window that is not sealed, most of which are. */
const pieces = 6;
/**
 * The oldest window of a range is read whole, though only a part of it is shown, when the range has this number of windows: the next
 * refresh shows it too.
 */
export const fewestWidened = 4;

/**
 * The windows that a range touches, in order, the first and last whole; at least `atLeastMs` long. None for a range that is not twice as
 * long as a window: it is asked as a whole.
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

/** The part of a range of steps, from the first to the last step, both included, that lies in a window; undefined for none. */
export interface StepRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The steps of a window: multiples of the step. */
export function stepsIn({ startMs, endMs }: TimeWindow, stepMs: number): StepRange | undefined {
  const firstMs = Math.ceil(startMs / stepMs) * stepMs;
  const lastMs = (Math.ceil(endMs / stepMs) - 1) * stepMs;
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}

export function commonSteps(a: StepRange, b: StepRange): StepRange | undefined {
  const [firstMs, lastMs] = [Math.max(a.firstMs, b.firstMs), Math.min(a.lastMs, b.lastMs)];
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}
