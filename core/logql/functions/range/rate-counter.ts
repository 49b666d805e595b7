import { Slider } from '../../metric/windows.js';
import { type StateKind, ValueLists } from '../../metric/states.js';
import { countValues, type Work, type WorkRequest } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const rateCounter: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: undefined,
  ofValues: 'times',
  work: counterWork,
  join: undefined,
  shards: 'never',
  unit: 'per-second',
};

const read = (state: Float64Array, at: number): number => state[at] ?? 0;

/**
 * Count, time and value of the first sample, time and value of the last, and the amount lost at resets (the value before
 * each decrease). Samples must be added in time order. Extrapolates the increase to each end of the range if that is no further away than
 * the average distance of samples, otherwise by half that distance.
 */
const counterState: StateKind = {
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

/** A counter's decreases only show in time order, so the samples of a bucket are kept until all have arrived. */
function counterWork({ windows, maxValues, memory }: WorkRequest): Work {
  const lists = new ValueLists(maxValues, true, memory);
  const slider = new Slider(counterState, windows, memory);
  const { width } = counterState;
  return {
    keepsValues: true,
    add: (cell, value, offset) => lists.add(cell, value, offset),
    addAll: (cell, values, offset) => lists.addAll(cell, values, offset),
    valuesOf: (series) => countValues(lists, series),
    *finish({ cells, from, to, buckets }, out) {
      const count = to - from;
      const states = new Float64Array(count * width);
      const own = new Int32Array(count).map((_zero, index) => index);
      const ownBuckets = own.map((index) => buckets[cells[from + index] ?? 0] ?? 0);
      for (let index = 0; index < count; index += 1) {
        const at = index * width;
        yield* lists.inTime(cells[from + index] ?? 0, (value, offset) =>
          counterState.add(states, at, value, offset),
        );
      }
      slider.slide({ cells: own, from: 0, to: count, buckets: ownBuckets }, states, out);
    },
    pack: () => lists.pack(),
    load: (arrays) => lists.load(arrays),
  };
}
