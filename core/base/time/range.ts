/** A time range in nanoseconds since the epoch; log queries and listings treat it as [startNs, endNs). */
export interface TimeRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}
