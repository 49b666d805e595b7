import { QuantileWindow } from './quantile-window.js';
import type { ColumnValues, SeriesCells } from './slide.js';
import type { ValueLists } from './value-lists.js';
import type { Windows } from './windows.js';

/** Writes the quantile of every column of one series, letting the values of its buckets come and go. */
export function quantileRow(
  phi: number,
  { cells, from, to, buckets }: SeriesCells,
  lists: ValueLists,
  windows: Windows,
  out: ColumnValues,
): void {
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
  const window = new QuantileWindow(values);
  const bucketAt = (index: number): number => buckets[own[index] ?? 0] ?? 0;
  let [entered, left] = [0, 0];
  let [inside, outside] = [0, 0];
  for (let column = 0; column < windows.columns; column += 1) {
    const begin = windows.firstBucketOf(column);
    const end = begin + windows.width - 1;
    while (entered < own.length && bucketAt(entered) <= end) {
      for (; inside < (ends[entered] ?? 0); inside += 1) window.add(values[inside] ?? 0);
      entered += 1;
    }
    while (left < entered && bucketAt(left) < begin) {
      for (; outside < (ends[left] ?? 0); outside += 1) window.remove(values[outside] ?? 0);
      left += 1;
    }
    if (window.size === 0) continue;
    out.present[column] = 1;
    out.values[column] = window.quantile(phi);
  }
}
