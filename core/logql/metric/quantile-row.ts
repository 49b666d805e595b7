import { quantileOf, QuantileWindow } from './quantile-window.js';
import { ascending } from './order.js';
import type { Steps } from '../../base/pace/steps.js';
import { sortInSteps } from './sort-in-steps.js';
import type { ColumnValues, SeriesCells } from './slide.js';
import type { ValueLists } from './value-lists.js';
import type { Windows } from './windows.js';

/** Values added or removed per step. */
const stepValues = 4096;

/** Up to this many values are sorted in one go, which takes about a millisecond. */
const quickSort = 16_384;

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
  for (const [column, own] of cellsOf) {
    let size = 0;
    for (const cell of own) size += lists.sizeOf(cell);
    const values = new Float64Array(size);
    let at = 0;
    for (const cell of own) {
      lists.copyValues(cell, values, at);
      at += lists.sizeOf(cell);
    }
    // Either way NaN goes to the end.
    const sorted =
      size <= quickSort ? values.sort() : yield* sortInSteps(values, new Float64Array(size), ascending);
    let numbers = size;
    while (numbers > 0 && Number.isNaN(sorted[numbers - 1])) numbers -= 1;
    const nans = size - numbers;
    out.present[column] = 1;
    out.values[column] = quantileOf(phi, size, (index) =>
      index < nans ? NaN : (sorted[index - nans] ?? NaN),
    );
    yield;
  }
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
