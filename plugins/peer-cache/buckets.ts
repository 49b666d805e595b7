/** How the time of a listing is divided into buckets. Bounds are [start, end), in nanoseconds, at whole multiples of a bucket's length. */
import type { TimeRange } from '../../core/base/time/range.js';

/** Time that whole buckets fill. */
export interface Filled extends TimeRange {
  /** Place of the smallest length in `lengths`. */
  readonly level: number;
}

const minuteNs = 60_000_000_000n;
/** Each is a whole multiple of the one before. */
const lengths = [1n, 10n, 60n, 360n, 1_440n].map((minutes) => minutes * minuteNs);
/** Shorter ranges are asked as they are (docs/protocol/operation.md#cache-times). */
const shortestNs = 10n * minuteNs;
/** So are longer ones, which would take too many buckets. */
const longestNs = 62n * 1_440n * minuteNs;
/** In longer ranges the smallest buckets cost more than they save. */
const longNs = 360n * minuteNs;
/** Lines younger than this may still be on their way. */
const newestNs = minuteNs;

export interface Divided {
  /** What buckets fill whose bounds are those of other ranges too. */
  readonly filled: Filled;
  /** Up to here, at a whole minute or at the end of the range, lines are old enough to be kept for a while. */
  readonly youngEndNs: bigint;
  /** The buckets in which the range begins and ends; undefined where it does so with a whole one, or where that is too young to be kept. */
  readonly atStart: TimeRange | undefined;
  readonly atEnd: TimeRange | undefined;
}

/** How buckets fill a range; undefined for a range that is too short, too long or too young. */
export function split({ startNs, endNs }: TimeRange, nowNs: bigint): Divided | undefined {
  if (endNs - startNs < shortestNs || endNs - startNs > longestNs) return undefined;
  const level = endNs - startNs < longNs ? 0 : 1;
  const length = lengths[level] ?? minuteNs;
  const oldNs = nowNs - newestNs;
  const sealedNs = oldNs < endNs ? oldNs : endNs;
  const filled = { startNs: -floor(-startNs, length), endNs: floor(sealedNs, length), level };
  if (filled.startNs >= filled.endNs) return undefined;
  const youngEndNs = floor(sealedNs, minuteNs);
  const atStart = { startNs: filled.startNs - length, endNs: filled.startNs };
  const atEnd = { startNs: youngEndNs, endNs: youngEndNs + minuteNs };
  return {
    filled,
    youngEndNs,
    atStart: startNs === filled.startNs ? undefined : atStart,
    atEnd: youngEndNs === endNs || atEnd.endNs > oldNs ? undefined : atEnd,
  };
}

/** The largest buckets that fill such a part, in order. */
export function bucketsOf({ startNs, endNs, level: smallest }: Filled): readonly TimeRange[] {
  const buckets: TimeRange[] = [];
  for (let from = startNs; from < endNs;) {
    let level = smallest;
    for (let larger = level + 1; larger < lengths.length; larger += 1) {
      const length = lengths[larger] ?? minuteNs;
      if (from % length === 0n && from + length <= endNs) level = larger;
    }
    const to = from + (lengths[level] ?? minuteNs);
    buckets.push({ startNs: from, endNs: to });
    from = to;
  }
  return buckets;
}

/** The largest multiple of a length that is not larger. */
function floor(ns: bigint, length: bigint): bigint {
  const rest = ns % length;
  return rest < 0n ? ns - rest - length : ns - rest;
}
