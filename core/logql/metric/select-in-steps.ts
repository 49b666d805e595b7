import type { Steps } from '../../base/pace/steps.js';
import { ascending } from './order.js';
import { sortInSteps } from './sort-in-steps.js';

/** Values in a chosen order may slow the selection down; after this many looks at each value it sorts those that are left. */
const looksPerValue = 8;

/** Up to this many values are in order sooner by sorting. */
const few = 24;

/**
 * Moves the value of a rank to its place: no value before it is greater, none behind it is smaller. Takes linear time, and a step for each
 * pass over the values.
 * @param values no NaN; they are reordered
 * @param rank below the number of values
 */
export function* selectInSteps(values: Float64Array, rank: number): Steps<void> {
  let [from, to] = [0, values.length - 1];
  let left = values.length * looksPerValue;
  while (to - from >= few) {
    left -= to - from;
    if (left < 0) break;
    const [end, begin] = partition(values, from, to);
    if (rank <= end) to = end;
    else if (rank >= begin) from = begin;
    else return;
    yield;
  }
  const rest = values.subarray(from, to + 1);
  if (rest.length <= few) rest.sort();
  else rest.set(yield* sortInSteps(rest, new Float64Array(rest.length), ascending));
}

/**
 * Divides a part of the values by one of them.
 * @returns the last index of those that are not greater, and the first of those that are not smaller; what lies between is in its place
 */
function partition(values: Float64Array, from: number, to: number): readonly [end: number, begin: number] {
  const pivot = median(values[from] ?? 0, values[(from + to) >>> 1] ?? 0, values[to] ?? 0);
  let [left, right] = [from, to];
  while (left <= right) {
    while ((values[left] ?? 0) < pivot) left += 1;
    while ((values[right] ?? 0) > pivot) right -= 1;
    if (left > right) break;
    const value = values[left] ?? 0;
    values[left] = values[right] ?? 0;
    values[right] = value;
    left += 1;
    right -= 1;
  }
  return [right, left];
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
