/** Time as the house reads it, so that tests can turn it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
  /** Milliseconds of a clock that never goes back, for durations. */
  monotonicMs(): number;
}
