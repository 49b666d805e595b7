import { LinkedQueue } from '../admission/fair-queue.js';

/** Milliseconds per turn of the event loop that all long computations share, and that one batch may take in addition. */
const usualSliceMs = 4;
/** Turns left to other work after each slice: most answers need several turns, and an idle turn costs almost nothing. */
const turnsBetween = 3;

/**
 * Shares the turns of the event loop among long computations. If each of many computations took a slice of the same turn, they would block
 * everything else. So waiting computations resume one after the other, as many as fit into one slice.
 */
class Turns {
  #startedAt = 0;
  #isCounted = false;
  #turn = 0;
  /** In order of arrival. */
  readonly #waiting = new LinkedQueue<{ readonly fromTurn: number; readonly goOn: () => void }>();

  /** Milliseconds since the first computation of this turn began its slice. */
  used(): number {
    const now = performance.now();
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#startedAt = now;
      setImmediate(this.#end);
    }
    return now - this.#startedAt;
  }

  /** Waits for some turns, and then for the computations that have waited longer. */
  wait(): Promise<void> {
    return new Promise((goOn) => {
      this.#waiting.add({ fromTurn: this.#turn + turnsBetween, goOn });
    });
  }

  readonly #end = (): void => {
    this.#turn += 1;
    this.#isCounted = false;
    if (this.#waiting.size > 0) this.#next();
  };

  readonly #next = (): void => {
    const { first } = this.#waiting;
    const isTime = this.used() < usualSliceMs;
    if (!isTime || first === undefined || first.value.fromTurn > this.#turn) return;
    this.#waiting.remove(first);
    first.value.goOn();
    // Runs after the microtasks, in which the resumed computation runs until it waits again.
    queueMicrotask(() => process.nextTick(this.#next));
  };
}

const turns = new Turns();

/** Lets other work run between the rows of a long computation, and ends the computation when it is cancelled. */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: number;

  /**
   * @param signal cancels the computation; without it, the caller checks between calls
   * @param sliceMs milliseconds of a turn that may be used before other work runs
   */
  constructor(signal?: AbortSignal, sliceMs = usualSliceMs) {
    this.#signal = signal;
    this.#sliceMs = sliceMs;
    turns.used();
  }

  /** Call this often; it returns a promise to await when the slice of this turn is used up. */
  due(): Promise<void> | undefined {
    return turns.used() < this.#sliceMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    await turns.wait();
    this.#signal?.throwIfAborted();
  }
}

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
