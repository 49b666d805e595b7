import type { StateKind } from './states.js';

const read = (state: Float64Array, at: number): number => state[at] ?? 0;

/**
 * Count and running mean, which stays exact where a sum would overflow. An infinite mean stays until the opposite infinity or NaN arrives.
 * @param step the change of the mean by a value; Loki's two averages differ in the last digit
 */
function meanOf(step: (value: number, mean: number, count: number) => number): StateKind {
  return {
    width: 2,
    add(state, at, value) {
      const count = read(state, at) + 1;
      const mean = read(state, at + 1);
      state[at] = count;
      if (Number.isFinite(mean) || !Number.isFinite(value))
        state[at + 1] = mean === value ? mean : mean + step(value, mean, count);
    },
    merge(state, at, other, from) {
      const count = read(state, at);
      const more = read(other, from);
      state[at] = count + more;
      state[at + 1] = mergedMean(read(state, at + 1), read(other, from + 1), count, more);
    },
    summary: {
      of: 'total',
      add(state, at, total, more) {
        const count = read(state, at);
        state[at] = count + more;
        state[at + 1] = mergedMean(read(state, at + 1), total / more, count, more);
      },
    },
    result: (state, at) => read(state, at + 1),
  };
}

/** `avg_over_time` of a series that is in a single shard. */
export const meanState = meanOf((value, mean, count) => value / count - mean / count);
/** `avg` that is not split. */
export const groupMeanState = meanOf((value, mean, count) => (value - mean) / count);

function mergedMean(a: number, b: number, countA: number, countB: number): number {
  if (countA === 0) return b;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a + b;
  const share = countB / (countA + countB);
  const step = b - a;
  return Number.isFinite(step) ? a + step * share : a * (1 - share) + b * share;
}

/** `stdvar_over_time`: count, mean, and the sum of squared distances from it; merged without loss of precision. */
export const varianceState: StateKind = {
  width: 3,
  add(state, at, value) {
    const count = read(state, at) + 1;
    const mean = read(state, at + 1);
    const distance = value - mean;
    const newMean = mean + distance / count;
    state[at] = count;
    state[at + 1] = newMean;
    state[at + 2] = read(state, at + 2) + distance * (value - newMean);
  },
  merge(state, at, other, from) {
    const count = read(state, at);
    const more = read(other, from);
    const all = count + more;
    const distance = read(other, from + 1) - read(state, at + 1);
    state[at] = all;
    state[at + 1] = read(state, at + 1) + (distance * more) / all;
    state[at + 2] =
      read(state, at + 2) + read(other, from + 2) + distance * distance * ((count * more) / all);
  },
  result: (state, at) => read(state, at + 2) / read(state, at),
};

/** `stdvar`: like `stdvar_over_time`, but a first value is its own mean, also an infinite one. */
export const groupVarianceState: StateKind = {
  ...varianceState,
  add(state, at, value, timeNs) {
    if (read(state, at) > 0) {
      varianceState.add(state, at, value, timeNs);
      return;
    }
    state[at] = 1;
    state[at + 1] = value;
  },
};

export const groupDeviationState: StateKind = {
  ...groupVarianceState,
  result: (state, at, seconds, endNs) => Math.sqrt(varianceState.result(state, at, seconds, endNs)),
};

export const deviationState: StateKind = {
  ...varianceState,
  result: (state, at, seconds, endNs) => Math.sqrt(varianceState.result(state, at, seconds, endNs)),
};
