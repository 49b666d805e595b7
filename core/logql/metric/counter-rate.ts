import type { StateKind } from './states.js';

const read = (state: Float64Array, at: number): number => state[at] ?? 0;

/**
 * `rate_counter`: count, time and value of the first sample, time and value of the last, and the amount lost at resets (the value before
 * each decrease). Samples must be added in time order. Extrapolates the increase to each end of the range if that is no further away than
 * the average distance of samples, otherwise by half that distance.
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
  result(state, at, rangeSeconds, endNs) {
    const count = read(state, at);
    if (count < 2) return 0;
    const [fromNs, first, toNs] = [read(state, at + 1), read(state, at + 2), read(state, at + 3)];
    const increase = read(state, at + 4) - first + read(state, at + 5);
    const sampled = seconds(toNs - fromNs);
    const between = sampled / (count - 1);
    const isNear = (distance: number): boolean => distance < between * 1.1;
    const ahead = rangeSeconds - seconds(endNs - fromNs);
    const before = isNear(ahead) ? ahead : between / 2;
    // A counter is never below zero, so it cannot have increased before it would have been zero.
    const fromZero = increase > 0 && first >= 0 ? sampled * (first / increase) : before;
    const behind = seconds(endNs - toNs);
    const after = isNear(behind) ? behind : between / 2;
    const stretched = sampled + Math.min(before, fromZero) + after;
    return (increase * (stretched / sampled)) / rangeSeconds;
  },
};

function seconds(ns: number): number {
  return ns / 1e9;
}
