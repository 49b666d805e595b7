import type { Steps } from '../../base/pace/steps.js';

type Numbers = Float64Array | Int32Array;

const pieceSize = 8192;

/** Sorts an array in steps by merging sorted pieces (not stable). The array is modified. */
export function* sortInSteps<Kind extends Numbers>(
  values: Kind,
  spare: Kind,
  compare: (a: number, b: number) => number,
): Steps<Kind> {
  // The same order, by the native sort.
  const own = compare === ascending ? undefined : compare;
  for (let from = 0; from < values.length; from += pieceSize) {
    values.subarray(from, from + pieceSize).sort(own);
    yield;
  }
  let source: Kind = values;
  let target: Kind = spare;
  for (let size = pieceSize; size < values.length; size *= 2) {
    for (let from = 0; from < values.length; from += 2 * size) {
      const middle = Math.min(from + size, values.length);
      yield* merge(source, target, from, middle, Math.min(middle + size, values.length), compare);
    }
    [source, target] = [target, source];
  }
  return source;
}

function* merge(
  source: Numbers,
  target: Numbers,
  from: number,
  middle: number,
  to: number,
  compare: (a: number, b: number) => number,
): Steps<void> {
  let [left, right] = [from, middle];
  for (let at = from; at < to; at += 1) {
    const [a, b] = [source[left] ?? 0, source[right] ?? 0];
    const takesLeft = left < middle && (right >= to || compare(a, b) <= 0);
    target[at] = takesLeft ? a : b;
    if (takesLeft) left += 1;
    else right += 1;
    if (at % pieceSize === 0) yield;
  }
}

/** Ascending order of numbers; NaN comes last. */
export function ascending(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Descending order of numbers; NaN comes last here too. */
export function descending(a: number, b: number): number {
  if (a > b) return -1;
  if (a < b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Bound on the passes per value: values in an adverse order slow down the selection, so the rest is sorted after this many. */
const looksPerValue = 8;

/** Up to this many values, sorting is faster. */
const few = 24;

/**
 * Moves the value of a rank to its sorted position: no value before it is greater, none after it is smaller. It takes linear time, and one
 * step for each pass over the values.
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
 * Partitions a part of the values by one of them.
 * @returns the last index of those that are not greater, and the first of those that are not smaller; values between the two are in
 * position
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
