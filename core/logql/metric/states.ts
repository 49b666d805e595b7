import { apiError } from '../../base/errors/table.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { Steps } from '../../base/pace/steps.js';
import { greatest, least } from '../functions/join.js';

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

/**
 * An average that Loki splits: the sum over the count.
 * @param seconds by which the sum is divided first
 */
export function averageState(seconds = 1): StateKind {
  return { ...sumState, result: (state, at) => read(state, at + 1) / seconds / read(state, at) };
}

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

const firstSize = 1024;

/** An array that can be transferred to another thread without a copy. */
export type NumberArray = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

const isWhole = (array: NumberArray): array is Int32Array<ArrayBuffer> => array instanceof Int32Array;
export const isReal = (array: NumberArray): array is Float64Array<ArrayBuffer> =>
  array instanceof Float64Array;

/** Keeps the values of samples by cell, with their times when needed. */
export class ValueLists {
  #count = 0;
  #values = new Float64Array(firstSize);
  #offsets: Float64Array<ArrayBuffer> | undefined;
  /** The previous value of the same cell, or -1. */
  #before = new Int32Array(firstSize);
  #last = new Int32Array(firstSize).fill(-1);
  #sizes = new Int32Array(firstSize);
  readonly #max: number;
  readonly #memory: MemoryAccount;

  /** @param max maximum number of values; 0 means unlimited */
  constructor(max: number, keepsOffsets: boolean, memory: MemoryAccount) {
    this.#max = max;
    this.#memory = memory;
    if (keepsOffsets) this.#offsets = new Float64Array(firstSize);
  }

  /** @throws ApiError `metricValues` for one value too many */
  add(cell: number, value: number, offset: number): void {
    const index = this.#count;
    if (this.#max > 0 && index >= this.#max) throw apiError('metricValues', { limit: this.#max });
    if (index === this.#values.length) this.#growValues();
    if (cell >= this.#last.length) this.#growCells(cell);
    this.#count += 1;
    this.#values[index] = value;
    if (this.#offsets !== undefined) this.#offsets[index] = offset;
    this.#before[index] = this.#last[cell] ?? -1;
    this.#last[cell] = index;
    this.#sizes[cell] = (this.#sizes[cell] ?? 0) + 1;
  }

  /**
   * Adds several values of one time.
   * @throws ApiError `metricValues` for one value too many
   */
  addAll(cell: number, values: Float64Array, offset: number): void {
    const from = this.#count;
    const to = from + values.length;
    if (this.#max > 0 && to > this.#max) throw apiError('metricValues', { limit: this.#max });
    while (to > this.#values.length) this.#growValues();
    if (cell >= this.#last.length) this.#growCells(cell);
    this.#count = to;
    this.#values.set(values, from);
    this.#offsets?.fill(offset, from, to);
    const before = this.#before;
    before[from] = this.#last[cell] ?? -1;
    for (let index = from + 1; index < to; index += 1) before[index] = index - 1;
    this.#last[cell] = to - 1;
    this.#sizes[cell] = (this.#sizes[cell] ?? 0) + values.length;
  }

  sizeOf(cell: number): number {
    return this.#sizes[cell] ?? 0;
  }

  /** Copies the values of a cell to `into` from index `at`, in no particular order. */
  copyValues(cell: number, into: Float64Array, at: number): void {
    let next = at;
    for (let index = this.#last[cell] ?? -1; index >= 0; index = this.#before[index] ?? -1) {
      into[next] = this.#values[index] ?? 0;
      next += 1;
    }
  }

  /** The values of a cell in time order; for equal times in ascending order. */
  *inTime(cell: number, each: (value: number, offset: number) => void): Steps<void> {
    const indexes = new Int32Array(this.sizeOf(cell));
    let at = 0;
    for (let index = this.#last[cell] ?? -1; index >= 0; index = this.#before[index] ?? -1) {
      indexes[at] = index;
      at += 1;
    }
    const [values, offsets] = [this.#values, this.#offsets ?? this.#values];
    const order = (a: number, b: number): number =>
      (offsets[a] ?? 0) - (offsets[b] ?? 0) || ascending(values[a] ?? 0, values[b] ?? 0);
    for (const index of yield* sortInSteps(indexes, new Int32Array(at), order))
      each(values[index] ?? 0, offsets[index] ?? 0);
  }

  /** The arrays that hold all state, for lists in another thread. */
  pack(): readonly NumberArray[] {
    const offsets = this.#offsets === undefined ? [] : [this.#offsets];
    return [this.#before, this.#last, this.#sizes, this.#values, ...offsets];
  }

  /** Loads the arrays of other lists of the same kind; afterwards nothing can be added. */
  load(arrays: readonly NumberArray[]): void {
    const [before = this.#before, last = this.#last, sizes = this.#sizes] = arrays.filter(isWhole);
    const [values = this.#values, offsets] = arrays.filter(isReal);
    this.#before = before;
    this.#last = last;
    this.#sizes = sizes;
    this.#values = values;
    this.#offsets = offsets;
  }

  #growValues(): void {
    const size = this.#values.length * 2;
    // Releases the old arrays, which were half as large.
    this.#memory.charge((size / 2) * (this.#offsets === undefined ? 12 : 20), 'samples by series and time');
    const [values, before] = [new Float64Array(size), new Int32Array(size)];
    values.set(this.#values);
    before.set(this.#before);
    this.#values = values;
    this.#before = before;
    if (this.#offsets === undefined) return;
    const offsets = new Float64Array(size);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
  }

  #growCells(cell: number): void {
    const size = Math.max(this.#last.length * 2, cell + 1);
    this.#memory.charge((size - this.#last.length) * 8, 'samples by series and time');
    const [last, sizes] = [new Int32Array(size).fill(-1), new Int32Array(size)];
    last.set(this.#last);
    sizes.set(this.#sizes);
    this.#last = last;
    this.#sizes = sizes;
  }
}
