import type { SeriesResult } from '../../../logql/metric/points.js';
import type { Label } from '../../../base/labels/label-set.js';

/** Loki's order of volumes: largest first point first, ties by labels. */
export function byVolume(a: SeriesResult, b: SeriesResult): number {
  const [left, right] = [a.points[0]?.value ?? 0, b.points[0]?.value ?? 0];
  return left === right ? compareLabels(a.labels.labels, b.labels.labels) : right - left;
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
