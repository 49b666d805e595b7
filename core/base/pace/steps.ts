import type { Pacer } from './pacer.js';

/** A long computation in pieces: each step takes a millisecond or two, and the generator returns the result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps without pauses. */
export function doAll<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs the steps, pausing for other work between them. */
export async function atPace<Result>(steps: Steps<Result>, pacer: Pacer): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
}

/** Passes on each item, pausing when a pause is due. */
export async function eachAtPace<Item>(
  items: Iterable<Item>,
  pacer: Pacer,
  each: (item: Item) => void,
): Promise<void> {
  for (const item of items) {
    each(item);
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
}

/** Passes on each item, a fixed number per step. */
export function* eachStep<Item>(items: Iterable<Item>, each: (item: Item) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    each(item);
    count += 1;
    if (count % stepItems === 0) yield;
  }
}

const stepItems = 500;
/** Sorting a piece of this size takes a few milliseconds if the texts are long. */
const pieceSize = 512;

/** Stable merge sort in steps. It modifies the input array. */
export function* sortSteps<Item>(items: Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
  if (items.length <= pieceSize) return items.sort(compare);
  let runs: Item[][] = [];
  for (let from = 0; from < items.length; from += pieceSize) {
    runs.push(items.slice(from, from + pieceSize).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergeRuns(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeRuns<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const merged: Item[] = [];
  let taken = 0;
  for (const item of left) {
    for (let next = right[taken]; next !== undefined && compare(next, item) < 0; next = right[taken]) {
      merged.push(next);
      taken += 1;
      if (merged.length % pieceSize === 0) yield;
    }
    merged.push(item);
    if (merged.length % pieceSize === 0) yield;
  }
  for (; taken < right.length; taken += 1) {
    const item = right[taken];
    if (item !== undefined) merged.push(item);
  }
  return merged;
}
