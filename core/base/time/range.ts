/** A time range in nanoseconds since the epoch; log queries and listings treat it as [startNs, endNs). */
export interface TimeRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

const dayNs = 86_400_000_000_000n;

/** The range, widened to the whole of each UTC day that it touches and that is over at `nowNs`. */
export function wholePastDays({ startNs, endNs }: TimeRange, nowNs: bigint): TimeRange {
  const todayNs = startOfDay(nowNs);
  const endOfLastDayNs = startOfDay(endNs + dayNs - 1n);
  return {
    startNs: startNs < todayNs ? startOfDay(startNs) : startNs,
    endNs: endOfLastDayNs <= todayNs ? endOfLastDayNs : endNs,
  };
}

/** Negative times round down as others do. */
function startOfDay(timeNs: bigint): bigint {
  const intoDay = timeNs % dayNs;
  return timeNs - (intoDay < 0n ? intoDay + dayNs : intoDay);
}
