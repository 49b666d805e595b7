/** The only source of time, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
  /** Milliseconds of a clock that never runs backwards, for durations. */
  monotonicMs(): number;
}
