import { lowerRankOf, quantileOf, QuantileWindow } from './quantile-window.js';
import { ascending } from './order.js';
import type { Steps } from '../../base/pace/steps.js';
import { selectInSteps } from './select-in-steps.js';
import { sortInSteps } from './sort-in-steps.js';
import type { ColumnValues, SeriesCells } from './slide.js';
import type { ValueLists } from './value-lists.js';
import type { Windows } from './windows.js';

/** Values added or removed per step. */
const stepValues = 4096;

/** Writes the quantile of every column of one series. */
export function quantileRow(
  phi: number,
  series: SeriesCells,
  lists: ValueLists,
  windows: Windows,
  out: ColumnValues,
): Steps<void> {
  const row = windows.width > windows.stride ? slidingRow : separateRow;
  return row(phi, series, lists, windows, out);
}

/** The same where no value is in two windows. */
function* separateRow(
  phi: number,
  { cells, from, to, buckets }: SeriesCells,
  lists: ValueLists,
  windows: Windows,
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
  // One array for all columns: the collector counts memory outside its heap by what was ever taken.
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

/** @returns how many numbers there are */
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

/** The same by adding and removing the values of buckets. */
function* slidingRow(
  phi: number,
  { cells, from, to, buckets }: SeriesCells,
  lists: ValueLists,
  windows: Windows,
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
