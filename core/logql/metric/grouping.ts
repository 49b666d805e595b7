import { LabelSet } from '../../base/labels/label-set.js';
import type { Grouping } from '../ast.js';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** The labels that a grouping leaves of a series; without a grouping all series are one. */
export function groupLabels(grouping: Groups | undefined): (labels: LabelSet) => LabelSet {
  if (grouping === undefined) return () => LabelSet.empty;
  const kept = keepLabels(new Set(grouping.labels), !grouping.without);
  return grouping.without ? (labels) => withoutEmpty(kept(labels)) : kept;
}

/** Without labels that have no value: what Loki leaves wherever it makes a label set from another one. */
export function withoutEmpty(set: LabelSet): LabelSet {
  return set.labels.some(([, value]) => value === '')
    ? LabelSet.fromSorted(set.labels.filter(([, value]) => value !== ''))
    : set;
}

/** Keeps the named labels, or all others. */
export function keepLabels(names: ReadonlySet<string>, keepsNamed: boolean): (labels: LabelSet) => LabelSet {
  if (names.size === 0) return keepsNamed ? () => LabelSet.empty : (labels) => labels;
  return ({ labels }) => LabelSet.fromSorted(labels.filter(([name]) => names.has(name) === keepsNamed));
}

/** Loki's order of label sets: by names and values from the left, the shorter set first. */
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
