/** A time range in nanoseconds since the epoch; log queries and listings treat it as [startNs, endNs). */
export interface TimeRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** True if a range lies in another one. */
export function isWithin(inner: TimeRange, outer: TimeRange): boolean {
  return outer.startNs <= inner.startNs && inner.endNs <= outer.endNs;
}

/** The part of a range that lies in another one; it ends before it starts if there is none. */
export function clipped({ startNs, endNs }: TimeRange, within: TimeRange): TimeRange {
  return {
    startNs: startNs < within.startNs ? within.startNs : startNs,
    endNs: endNs > within.endNs ? within.endNs : endNs,
  };
}

/** The shortest range that contains both. */
export function rangeOfBoth(one: TimeRange, other: TimeRange): TimeRange {
  return {
    startNs: one.startNs < other.startNs ? one.startNs : other.startNs,
    endNs: one.endNs > other.endNs ? one.endNs : other.endNs,
  };
}
