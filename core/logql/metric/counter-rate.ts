import type { StateKind } from './states.js';

const read = (state: Float64Array, at: number): number => state[at] ?? 0;

/**
 * `rate_counter`: count, time and value of the first sample, time and value of the last, and what was lost at resets (the
 * value before each fall). Samples must be added in the order of time.
 */
export const counterState: StateKind = {
  width: 6,
  add(state, at, value, offset) {
    const count = read(state, at);
    if (count === 0) {
      state[at + 1] = offset;
      state[at + 2] = value;
    } else if (value < read(state, at + 4)) {
      state[at + 5] = read(state, at + 5) + read(state, at + 4);
    }
    state[at] = count + 1;
    state[at + 3] = offset;
    state[at + 4] = value;
  },
  merge(state, at, other, from) {
    const before = read(state, at + 4);
    const lost = read(other, from + 2) < before ? before : 0;
    state[at] = read(state, at) + read(other, from);
    state[at + 3] = read(other, from + 3);
    state[at + 4] = read(other, from + 4);
    state[at + 5] = read(state, at + 5) + lost + read(other, from + 5);
  },
  result(state, at, rangeSeconds) {
    const count = read(state, at);
    const sampledNs = read(state, at + 3) - read(state, at + 1);
    const first = read(state, at + 2);
    const increase = read(state, at + 4) - first + read(state, at + 5);
    return count < 2
      ? 0
      : (increase * stretch(sampledNs, count, first, increase, rangeSeconds)) / rangeSeconds;
  },
};

/**
 * How much more the counter is taken to have grown outside of its samples. Loki reckons samples in nanoseconds with a formula
 * made for milliseconds, so that the factor is all but 1; to give its digits the mix-up is kept.
 */
function stretch(
  sampledNs: number,
  count: number,
  first: number,
  increase: number,
  rangeSeconds: number,
): number {
  const sampled = sampledNs / 1000;
  const between = sampled / (count - 1);
  let toStart = rangeSeconds;
  if (increase > 0 && first >= 0) toStart = Math.min(toStart, sampled * (first / increase));
  const before = toStart < between * 1.1 ? toStart : between / 2;
  return (sampled + before) / sampled;
}
