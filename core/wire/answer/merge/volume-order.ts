import type { SeriesResult } from '../../../logql/metric/work.js';
import type { Label } from '../../../base/label-set.js';

/** Loki's order of volumes: by first point, largest first, then by labels. */
export function byVolume(a: SeriesResult, b: SeriesResult): number {
  const [left, right] = [a.points[0]?.value ?? 0, b.points[0]?.value ?? 0];
  return left === right ? compareLabels(a.labels.labels, b.labels.labels) : right - left;
}

/**
 * The series with the largest volumes, in their original order. For a range, these are the series with the largest volumes over the whole
 * range.
 */
export function biggest(series: readonly SeriesResult[], limit: number): readonly SeriesResult[] {
  if (series.length <= limit) return series;
  const totals = series.map((one) => ({ one, total: totalOf(one) }));
  totals.sort((a, b) => b.total - a.total || compareLabels(a.one.labels.labels, b.one.labels.labels));
  const kept = new Set(totals.slice(0, limit).map(({ one }) => one));
  return series.filter((one) => kept.has(one));
}

function totalOf({ points }: SeriesResult): number {
  return points.reduce((sum, { value }) => sum + value, 0);
}

function compareLabels(a: readonly Label[], b: readonly Label[]): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (name !== other[0]) return name < other[0] ? -1 : 1;
    if (value !== other[1]) return value < other[1] ? -1 : 1;
  }
  return a.length - b.length;
}
