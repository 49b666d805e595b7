import type { QueryState, RangeName } from './query-state.js';

/** Unix milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const lengths: Readonly<Record<Exclude<RangeName, 'custom'>, number>> = {
  '5m': 5 * minute,
  '15m': 15 * minute,
  '1h': hour,
  '3h': 3 * hour,
  '6h': 6 * hour,
  '24h': 24 * hour,
  '7d': 168 * hour,
};

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

export const rangeTexts: Readonly<Record<RangeName, string>> = {
  '5m': 'Last 5 minutes',
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '3h': 'Last 3 hours',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  custom: 'Between two times',
};

/** The range of a query run now; for an invalid custom range, a text that explains why. */
export function rangeOf(
  { range, from, to }: Pick<QueryState, 'range' | 'from' | 'to'>,
  nowMs: number,
): TimeRange | string {
  if (range !== 'custom') return { startMs: nowMs - lengths[range], endMs: nowMs };
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(startMs)) return 'A custom range needs a beginning.';
  if (Number.isNaN(endMs)) return 'A custom range needs an end.';
  return startMs < endMs ? { startMs, endMs } : 'A custom range must begin before it ends.';
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
