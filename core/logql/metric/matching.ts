import { type LabelSet, type Label, withoutEmpty } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/sizes.js';
import type { VectorMatching } from '../ast.js';
import { keepLabels } from './grouping.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import type { SeriesRow } from './types.js';

/** The labels by which series of two sides match: all without `on` and `ignoring`. An empty label is as none. */
export function signatureOf(matching: VectorMatching | undefined): (labels: LabelSet) => LabelSet {
  if (matching === undefined) return withoutEmpty;
  const kept = keepLabels(new Set(matching.labels), matching.on);
  return (labels) => withoutEmpty(kept(labels));
}

/**
 * The labels of a result: for one to one, those that matched; otherwise those of the "many" side plus the labels that `group_left` or
 * `group_right` copies from the "one" side. Empty labels are dropped.
 */
export function resultLabelsOf(
  matching: VectorMatching | undefined,
): (many: LabelSet, one: LabelSet) => LabelSet {
  if (matching?.group === undefined) return signatureOf(matching);
  const { include } = matching;
  if (include.length === 0) return withoutEmpty;
  const names = new Set(include);
  return (many, one) =>
    withoutEmpty(many.without(names).with(include.map((name): Label => [name, one.get(name)])));
}

/** Series by signature, in their original order. */
export async function bySignature(
  rows: Iterable<SeriesRow>,
  signature: (labels: LabelSet) => LabelSet,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<ReadonlyMap<string, readonly SeriesRow[]>> {
  const groups = new Map<string, SeriesRow[]>();
  await eachAtPace(rows, pacer, (row) => {
    const { key } = signature(row.labels);
    const group = groups.get(key);
    if (group === undefined) {
      memory.charge(entryBytes + textBytes(key), 'the labels of series');
      groups.set(key, [row]);
    } else group.push(row);
  });
  return groups;
}

/** For each column, whether any of the rows has a sample. */
export async function anyPresent(
  rows: Iterable<SeriesRow>,
  count: number,
  pacer: Pacer,
): Promise<Uint8Array> {
  const any = new Uint8Array(count);
  await eachAtPace(rows, pacer, ({ present }) => {
    for (let column = 0; column < count; column += 1) if (present[column] === 1) any[column] = 1;
  });
  return any;
}
