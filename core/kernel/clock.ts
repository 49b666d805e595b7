import type { Clock } from '../base/clock.js';

/** The clocks of the machine; nanoseconds have the resolution of milliseconds. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
};
