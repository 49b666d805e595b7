import { ascending } from './order.js';

/**
 * What a range function knows of the samples it has seen, as `width` numbers in an array. The first of them is the number of
 * samples; all are 0 for none. States of two stretches of time can be merged into that of both.
 */
export interface StateKind {
  readonly width: number;
  /** Takes a sample in; `offset` tells its time. */
  add(state: Float64Array, at: number, value: number, offset: number): void;
  /** Merges the state at `from`, which has samples and is of later time, into the one at `at`, which has samples too. */
  merge(state: Float64Array, at: number, other: Float64Array, from: number): void;
  /** The function's value for a state that has samples, in a window that ends at `endNs`, counted as offsets are. */
  result(state: Float64Array, at: number, rangeSeconds: number, endNs: number): number;
}

const read = (state: Float64Array, at: number): number => state[at] ?? 0;

/** `count_over_time`, and `rate` of lines. */
export const countState: StateKind = {
  width: 1,
  add(state, at) {
    state[at] = read(state, at) + 1;
  },
  merge(state, at, other, from) {
    state[at] = read(state, at) + read(other, from);
  },
  result: (state, at) => read(state, at),
};

/** `sum_over_time` and `bytes_over_time`. */
export const sumState: StateKind = {
  width: 2,
  add(state, at, value) {
    state[at] = read(state, at) + 1;
    state[at + 1] = read(state, at + 1) + value;
  },
  merge(state, at, other, from) {
    state[at] = read(state, at) + read(other, from);
    state[at + 1] = read(state, at + 1) + read(other, from + 1);
  },
  result: (state, at) => read(state, at + 1),
};

/** Amounts that were added up elsewhere, and amounts taken off again: where nothing is left there was nothing. */
export const tallyState: StateKind = {
  ...sumState,
  add(state, at, value) {
    // A line of no bytes is a sample all the same.
    state[at] = read(state, at) + (value === 0 ? 1 : value);
    state[at + 1] = read(state, at + 1) + value;
  },
};

/** The value of another state by the second. */
export function perSecond(kind: StateKind): StateKind {
  return {
    ...kind,
    result: (state, at, seconds, endNs) => kind.result(state, at, seconds, endNs) / seconds,
  };
}

/** `max_over_time` and `min_over_time`: NaN only where there is nothing else. */
function extremeState(isBetter: (value: number, best: number) => boolean): StateKind {
  const put = (state: Float64Array, at: number, count: number, value: number): void => {
    const had = read(state, at);
    const best = read(state, at + 1);
    state[at] = had + count;
    if (had === 0 || isBetter(value, best) || Number.isNaN(best)) state[at + 1] = value;
  };
  return {
    width: 2,
    add: (state, at, value) => put(state, at, 1, value),
    merge: (state, at, other, from) => put(state, at, read(other, from), read(other, from + 1)),
    result: (state, at) => read(state, at + 1),
  };
}

export const maxState = extremeState((value, best) => value > best);
export const minState = extremeState((value, best) => value < best);

/** `first_over_time` and `last_over_time`; of samples at one moment the least or greatest, so that their order is no matter. */
function edgeState(isNearer: (offset: number, best: number) => boolean, keepsEarlier: boolean): StateKind {
  return {
    width: 3,
    add(state, at, value, offset) {
      const had = read(state, at);
      const best = read(state, at + 1);
      state[at] = had + 1;
      const isLess = ascending(value, read(state, at + 2)) < 0;
      const isTie = offset === best && isLess === keepsEarlier;
      if (had > 0 && !isNearer(offset, best) && !isTie) return;
      state[at + 1] = offset;
      state[at + 2] = value;
    },
    merge(state, at, other, from) {
      state[at] = read(state, at) + read(other, from);
      if (keepsEarlier) return;
      state[at + 1] = read(other, from + 1);
      state[at + 2] = read(other, from + 2);
    },
    result: (state, at) => read(state, at + 2),
  };
}

export const firstState = edgeState((offset, best) => offset < best, true);
export const lastState = edgeState((offset, best) => offset > best, false);
