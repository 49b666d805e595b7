import type { Clock } from '../base/clock.js';

/** The machine's clocks; nanoseconds have millisecond resolution. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
};
