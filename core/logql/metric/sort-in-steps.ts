import type { Steps } from '../../base/pace/steps.js';
import { ascending } from './order.js';

type Numbers = Float64Array | Int32Array;

const pieceSize = 8192;

/** Sorts an array in steps by merging sorted pieces (not stable). The array is modified. */
export function* sortInSteps<Kind extends Numbers>(
  values: Kind,
  spare: Kind,
  compare: (a: number, b: number) => number,
): Steps<Kind> {
  // The same order, but sorted natively.
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
