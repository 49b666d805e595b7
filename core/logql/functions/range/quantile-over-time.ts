import type { MemoryAccount } from '../../../base/memory/account.js';
import type { Steps } from '../../../base/pace/steps.js';
import { ascending, selectInSteps, sortInSteps, ValueLists } from '../../metric/states.js';
import type { ColumnValues, RangeWindows, SeriesCells } from '../../metric/windows.js';
import { countValues, type Work, type WorkRequest } from '../../metric/work.js';
import type { RangeFunction } from './descriptor.js';

export const quantileOverTime: RangeFunction = {
  parameter: 'required',
  grouping: 'allowed',
  ofLines: undefined,
  ofValues: 'values',
  work: quantileWork,
  join: undefined,
  shards: 'outermost',
};

function quantileWork({ node, windows, maxValues, memory }: WorkRequest): Work {
  const phi = node.parameter ?? 0;
  const lists = new ValueLists(maxValues, false, memory);
  return {
    keepsValues: true,
    add: (cell, value) => lists.add(cell, value, 0),
    addAll: (cell, values) => lists.addAll(cell, values, 0),
    valuesOf: (series) => countValues(lists, series),
    // Charges all values of the series, plus three times as much to sort them.
    finish: (series, out) =>
      charged(memory, countValues(lists, series) * 36, quantileRow(phi, series, lists, windows, out)),
    pack: () => lists.pack(),
    load: (arrays) => lists.load(arrays),
  };
}

/** Runs steps while their temporary memory is charged. */
function* charged(memory: MemoryAccount, bytes: number, steps: Steps<void>): Steps<void> {
  memory.charge(bytes, 'the values of series');
  try {
    yield* steps;
  } finally {
    memory.release(bytes, 'the values of series');
  }
}

/** Values added or removed per step. */
const stepValues = 4096;

/** Writes the quantile of every column of one series. */
function quantileRow(
  phi: number,
  series: SeriesCells,
  lists: ValueLists,
  windows: RangeWindows,
  out: ColumnValues,
): Steps<void> {
  const row = windows.width > windows.stride ? slidingRow : separateRow;
  return row(phi, series, lists, windows, out);
}

/** As `quantileRow`, for windows that do not overlap. */
function* separateRow(
  phi: number,
  { cells, from, to, buckets }: SeriesCells,
  lists: ValueLists,
  windows: RangeWindows,
  out: ColumnValues,
): Steps<void> {
  const cellsOf = new Map<number, number[]>();
  for (const cell of cells.subarray(from, to)) {
    const column = windows.lastColumnOf(buckets[cell] ?? 0);
    const known = cellsOf.get(column);
    if (known === undefined) cellsOf.set(column, [cell]);
    else known.push(cell);
  }
  const sizeOf = (own: readonly number[]): number => own.reduce((size, cell) => size + lists.sizeOf(cell), 0);
  // A single array for all columns: the collector accounts memory outside its heap by the total allocated.
  let most = 0;
  for (const own of cellsOf.values()) most = Math.max(most, sizeOf(own));
  const room = new Float64Array(most);
  for (const [column, own] of cellsOf) {
    const values = room.subarray(0, sizeOf(own));
    let at = 0;
    for (const cell of own) {
      lists.copyValues(cell, values, at);
      at += lists.sizeOf(cell);
    }
    out.present[column] = 1;
    out.values[column] = yield* quantileOfValues(phi, values);
    yield;
  }
}

/** @param values in any order; they are reordered */
function* quantileOfValues(phi: number, values: Float64Array): Steps<number> {
  const numbers = values.subarray(0, moveNaNsBehind(values));
  const nans = values.length - numbers.length;
  const lower = lowerRankOf(phi, values.length) - nans;
  if (lower >= 0 && lower < numbers.length) {
    yield* selectInSteps(numbers, lower);
    moveSmallestTo(numbers, lower + 1);
  } else moveSmallestTo(numbers, 0);
  return quantileOf(phi, values.length, (rank) => (rank < nans ? NaN : (numbers[rank - nans] ?? NaN)));
}

/** @returns the number of values that are not NaN */
function moveNaNsBehind(values: Float64Array): number {
  let count = 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? NaN;
    if (Number.isNaN(value)) continue;
    values[index] = values[count] ?? NaN;
    values[count] = value;
    count += 1;
  }
  return count;
}

/** Moves the smallest of the numbers from an index on to this index. */
function moveSmallestTo(numbers: Float64Array, index: number): void {
  let smallest = index;
  for (let at = index + 1; at < numbers.length; at += 1)
    if ((numbers[at] ?? 0) < (numbers[smallest] ?? 0)) smallest = at;
  if (smallest >= numbers.length) return;
  const value = numbers[smallest] ?? 0;
  numbers[smallest] = numbers[index] ?? 0;
  numbers[index] = value;
}

/** As `quantileRow`, by adding and removing the values of buckets. */
function* slidingRow(
  phi: number,
  { cells, from, to, buckets }: SeriesCells,
  lists: ValueLists,
  windows: RangeWindows,
  out: ColumnValues,
): Steps<void> {
  const own = cells.slice(from, to).sort((a, b) => (buckets[a] ?? 0) - (buckets[b] ?? 0));
  const ends = new Int32Array(own.length);
  let total = 0;
  for (const [index, cell] of own.entries()) {
    total += lists.sizeOf(cell);
    ends[index] = total;
  }
  const values = new Float64Array(total);
  for (const [index, cell] of own.entries())
    lists.copyValues(cell, values, index === 0 ? 0 : (ends[index - 1] ?? 0));
  const sorted = yield* sortInSteps(Float64Array.from(values), new Float64Array(total), ascending);
  const window = new QuantileWindow(sorted);
  const bucketAt = (index: number): number => buckets[own[index] ?? 0] ?? 0;
  let [entered, left] = [0, 0];
  let [inside, outside] = [0, 0];
  for (let column = 0; column < windows.columns; column += 1) {
    const begin = windows.firstBucketOf(column);
    const end = begin + windows.width - 1;
    while (entered < own.length && bucketAt(entered) <= end) {
      for (; inside < (ends[entered] ?? 0); inside += 1) {
        window.add(values[inside] ?? 0);
        if (inside % stepValues === 0) yield;
      }
      entered += 1;
    }
    while (left < entered && bucketAt(left) < begin) {
      for (; outside < (ends[left] ?? 0); outside += 1) {
        window.remove(values[outside] ?? 0);
        if (outside % stepValues === 0) yield;
      }
      left += 1;
    }
    if (window.size === 0) continue;
    out.present[column] = 1;
    out.values[column] = window.quantile(phi);
  }
}

/**
 * Loki's quantile of values in ascending order: results are interpolated linearly.
 * @param valueAt NaN sorts below all numbers
 */
function quantileOf(phi: number, size: number, valueAt: (index: number) => number): number {
  if (size === 0) return NaN;
  if (phi < 0) return -Infinity;
  if (phi > 1) return Infinity;
  const rank = phi * (size - 1);
  const lower = lowerRankOf(phi, size);
  const upper = Math.min(size - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return valueAt(lower) * (1 - weight) + valueAt(upper) * weight;
}

/** The lower of the two neighbouring ranks between which a quantile of 0 to 1 lies. */
function lowerRankOf(phi: number, size: number): number {
  return Math.max(0, Math.floor(phi * (size - 1)));
}

/**
 * The quantile of a sliding window over known values: a Fenwick tree of counts over the sorted values. Adding or removing a value and
 * reading a quantile take logarithmic time.
 */
class QuantileWindow {
  readonly #sorted: Float64Array;
  readonly #counts: Int32Array;
  readonly #topStep: number;
  #size = 0;
  #nans = 0;

  /** @param sorted all values that will ever be in the window, ascending */
  constructor(sorted: Float64Array) {
    let numbers = sorted.length;
    while (numbers > 0 && Number.isNaN(sorted[numbers - 1])) numbers -= 1;
    this.#sorted = sorted.subarray(0, numbers);
    this.#counts = new Int32Array(numbers + 1);
    this.#topStep = numbers === 0 ? 0 : 2 ** Math.floor(Math.log2(numbers));
  }

  get size(): number {
    return this.#size;
  }

  add(value: number): void {
    this.#change(value, 1);
  }

  remove(value: number): void {
    this.#change(value, -1);
  }

  quantile(phi: number): number {
    return quantileOf(phi, this.#size, (index) => this.#valueAt(index));
  }

  #change(value: number, by: number): void {
    this.#size += by;
    if (Number.isNaN(value)) {
      this.#nans += by;
      return;
    }
    for (let at = this.#rankOf(value) + 1; at < this.#counts.length; at += at & -at) {
      this.#counts[at] = (this.#counts[at] ?? 0) + by;
    }
  }

  /** The index of the first value that is not smaller. */
  #rankOf(value: number): number {
    let low = 0;
    let high = this.#sorted.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #valueAt(index: number): number {
    let left = index - this.#nans;
    if (left < 0) return NaN;
    let at = 0;
    for (let step = this.#topStep; step >= 1; step /= 2) {
      const next = at + step;
      const count = this.#counts[next] ?? Infinity;
      if (next < this.#counts.length && count <= left) {
        at = next;
        left -= count;
      }
    }
    return this.#sorted[at] ?? NaN;
  }
}
