/** Unix milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

const second = 1_000;

/** Nanoseconds since the epoch; the end is exclusive. */
export interface NsRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export function nsRange({ startMs, endMs }: TimeRange): NsRange {
  return { startNs: nsOf(startMs), endNs: nsOf(endMs) };
}

function nsOf(ms: number): bigint {
  return BigInt(Math.round(ms)) * 1_000_000n;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** The smallest common step in whole seconds that gives at most `maxPoints` points. */
export function stepOf({ startMs, endMs }: TimeRange, maxPoints: number): number {
  const least = (endMs - startMs) / second / maxPoints;
  return steps.find((step) => step >= least) ?? Math.ceil(least / 86_400) * 86_400;
}

/** The smallest range of whole steps that contains the given one. */
export function onSteps({ startMs, endMs }: TimeRange, stepSeconds: number): TimeRange {
  const step = stepSeconds * second;
  return { startMs: Math.floor(startMs / step) * step, endMs: Math.ceil(endMs / step) * step };
}

/** The points of the bars that cover a range: a bar ends at its point, so the first point is one step after the start. */
export function barRange(range: TimeRange, stepSeconds: number): TimeRange {
  const { startMs, endMs } = onSteps(range, stepSeconds);
  return { startMs: startMs + stepSeconds * second, endMs };
}

/** The range extended to the start of its first step, so that the first bar is complete. */
export function fromWholeStep({ startMs, endMs }: TimeRange, stepSeconds: number): TimeRange {
  return { startMs: onSteps({ startMs, endMs }, stepSeconds).startMs, endMs };
}
