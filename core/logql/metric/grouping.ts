import { LabelSet, withoutEmpty } from '../../base/labels/label-set.js';
import type { Grouping } from '../ast.js';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** Maps the labels of a series to those of its group; without a grouping, all series are one group. */
export function groupLabels(grouping: Groups | undefined): (labels: LabelSet) => LabelSet {
  if (grouping === undefined) return () => LabelSet.empty;
  const kept = keepLabels(new Set(grouping.labels), !grouping.without);
  return grouping.without ? (labels) => withoutEmpty(kept(labels)) : kept;
}

/** Keeps the named labels, or all others. */
export function keepLabels(names: ReadonlySet<string>, keepsNamed: boolean): (labels: LabelSet) => LabelSet {
  if (names.size === 0) return keepsNamed ? () => LabelSet.empty : (labels) => labels;
  return ({ labels }) => LabelSet.fromSorted(labels.filter(([name]) => names.has(name) === keepsNamed));
}

/** Loki's order of label sets: by names and values from the left, a prefix first. */
export function compareLabels(a: LabelSet, b: LabelSet): number {
  const shared = Math.min(a.size, b.size);
  for (let index = 0; index < shared; index += 1) {
    const [nameA, valueA] = a.labels[index] ?? ['', ''];
    const [nameB, valueB] = b.labels[index] ?? ['', ''];
    if (nameA !== nameB) return nameA < nameB ? -1 : 1;
    if (valueA !== valueB) return valueA < valueB ? -1 : 1;
  }
  return a.size - b.size;
}
