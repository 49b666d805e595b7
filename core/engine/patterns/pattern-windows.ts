import { clipped } from '../../base/order.js';
import type { TimeRange } from '../../base/time/range.js';

/** Number of lines per time bucket, as pairs of start (in seconds) and count, ascending. */
export type PatternHistogram = readonly (readonly [seconds: number, lines: number])[];

/** A time segment of whole buckets. */
export interface PatternWindow {
  readonly range: TimeRange;
  readonly buckets: PatternHistogram;
  readonly lines: number;
}

const secondNs = 1_000_000_000n;

/**
 * Splits a range into at most `maxWindows` windows of whole buckets with about the same number of lines; segments without lines are in
 * none.
 */
export function cutWindows(
  histogram: PatternHistogram,
  range: TimeRange,
  stepNs: bigint,
  maxWindows: number,
): readonly PatternWindow[] {
  const total = sampledLinesOf(histogram);
  const windows: PatternWindow[] = [];
  let open: (readonly [number, number])[] = [];
  let before = 0;
  let taken = 0;
  for (const [index, bucket] of histogram.entries()) {
    open.push(bucket);
    taken += bucket[1];
    const isFull = taken >= ((windows.length + 1) * total) / maxWindows;
    if (!isFull && index < histogram.length - 1) continue;
    windows.push(windowOf(open, taken - before, range, stepNs));
    before = taken;
    open = [];
  }
  return windows.filter(({ lines }) => lines > 0);
}

function windowOf(buckets: PatternHistogram, lines: number, range: TimeRange, stepNs: bigint): PatternWindow {
  const startNs = BigInt(buckets[0]?.[0] ?? 0) * secondNs;
  const endNs = BigInt(buckets.at(-1)?.[0] ?? 0) * secondNs + stepNs;
  return { range: clipped({ startNs, endNs }, range), buckets, lines };
}

export function sampledLinesOf(histogram: PatternHistogram): number {
  return histogram.reduce((sum, [, lines]) => sum + lines, 0);
}

/**
 * Spreads the lines that a sample represents over the window's buckets, in proportion to all lines in them. The counts are integers that
 * add up to `sampled / read` of the window's lines, rounded.
 */
export function spreadSample(
  { buckets, lines }: PatternWindow,
  sampled: number,
  read: number,
): PatternHistogram {
  const whole = Math.round((lines * sampled) / read);
  const parts: (readonly [number, number])[] = [];
  let seen = 0;
  let given = 0;
  for (const [seconds, count] of buckets) {
    seen += count;
    const upTo = Math.round((whole * seen) / lines);
    if (upTo > given) parts.push([seconds, upTo - given]);
    given = upTo;
  }
  return parts;
}
