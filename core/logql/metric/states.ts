import { ascending } from './sort-in-steps.js';
import { greatest, least } from '../functions/join.js';

/**
 * The state in which a range function accumulates samples: `width` numbers in an array, the first of which is the number of samples; all
 * are 0 if there are none. States of two time spans can be merged.
 */
export interface StateKind {
  readonly width: number;
  /** Adds a sample; `offset` is its time. */
  add(state: Float64Array, at: number, value: number, offset: number): void;
  /** Merges the state at `from`, which is later in time, into the one at `at`; both have samples. */
  merge(state: Float64Array, at: number, other: Float64Array, from: number): void;
  /** The statistic of several samples that is enough to add all of them; undefined if there is none. */
  readonly summary?: Summary;
  /** The function's value for a state with samples, in a window that ends at `endNs`, on the same scale as offsets. */
  result(state: Float64Array, at: number, rangeSeconds: number, endNs: number): number;
}

/** A way to add samples of which only a statistic is known. */
export interface Summary {
  readonly of: 'total' | 'least' | 'greatest';
  /** Adds `count` samples with this statistic; a negative count takes samples of a sum out again. */
  add(state: Float64Array, at: number, value: number, count: number): void;
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
  summary: {
    of: 'total',
    add(state, at, total, count) {
      state[at] = read(state, at) + count;
      state[at + 1] = read(state, at + 1) + total;
    },
  },
  result: (state, at) => read(state, at + 1),
};

/** An average that Loki splits: the sum over the count. */
export const averageState: StateKind = {
  ...sumState,
  result: (state, at) => read(state, at + 1) / read(state, at),
};

/** Sums of amounts that may also be subtracted: a result of 0 means that there were no samples. */
export const tallyState: StateKind = {
  ...sumState,
  add(state, at, value) {
    // A line of zero bytes still counts as a sample.
    state[at] = read(state, at) + (value === 0 ? 1 : value);
    state[at + 1] = read(state, at + 1) + value;
  },
};

/** The per-second value of another state. */
export function perSecond(kind: StateKind): StateKind {
  return {
    ...kind,
    result: (state, at, seconds, endNs) => kind.result(state, at, seconds, endNs) / seconds,
  };
}

/** `max_over_time` and `min_over_time`. */
function extremeState(of: 'least' | 'greatest', best: (a: number, b: number) => number): StateKind {
  const put = (state: Float64Array, at: number, count: number, value: number): void => {
    const had = read(state, at);
    state[at] = had + count;
    state[at + 1] = had === 0 ? value : best(read(state, at + 1), value);
  };
  return {
    width: 2,
    add: (state, at, value) => put(state, at, 1, value),
    merge: (state, at, other, from) => put(state, at, read(other, from), read(other, from + 1)),
    summary: { of, add: (state, at, value, count) => put(state, at, count, value) },
    result: (state, at) => read(state, at + 1),
  };
}

export const maxState = extremeState('greatest', greatest);
export const minState = extremeState('least', least);

/**
 * `first_over_time` and `last_over_time`; for samples at the same time the smallest or greatest value wins, so that their order does not
 * matter.
 */
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
