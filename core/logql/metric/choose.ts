import type { MemoryAccount } from '../../memory/account.js';
import { entryBytes, seriesBytes } from '../../memory/sizes.js';
import type { Grouping } from '../ast.js';
import type { Columns } from './columns.js';
import { compareLabels, groupLabels } from './grouping.js';
import { ascending, descending } from './order.js';
import type { Pacer } from '../../pace/pacer.js';
import { SeriesIndex } from './series-index.js';
import type { SeriesRow } from './types.js';

/**
 * `topk` and `bottomk`: of each group the k series with the greatest or least values, column by column. Loki leaves open which
 * of equal ones it takes; here it is the first by labels.
 */
export async function chooseSeries(
  op: 'topk' | 'bottomk',
  k: number,
  grouping: Grouping | undefined,
  rows: readonly SeriesRow[],
  { count }: Columns,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<readonly SeriesRow[]> {
  const groupOf = groupLabels(grouping);
  const groups = new SeriesIndex(memory);
  const members: { readonly from: SeriesRow; readonly chosen: SeriesRow }[][] = [];
  for (const row of rows.toSorted((a, b) => compareLabels(a.labels, b.labels))) {
    memory.charge(seriesBytes(count, 1) + entryBytes, 'the values of series');
    const chosen = { labels: row.labels, values: row.values, present: new Uint8Array(count) };
    (members[groups.of(groupOf(row.labels))] ??= []).push({ from: row, chosen });
  }
  const byValue = op === 'topk' ? descending : ascending;
  for (const group of members) {
    for (let column = 0; column < count; column += 1) {
      const valueOf = ({ from }: { readonly from: SeriesRow }): number => from.values[column] ?? 0;
      const best = group
        .filter(({ from }) => from.present[column] === 1)
        .sort((a, b) => byValue(valueOf(a), valueOf(b)));
      for (const { chosen } of best.slice(0, k)) chosen.present[column] = 1;
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
  return members
    .flatMap((group) => group.map(({ chosen }) => chosen))
    .filter(({ present }) => present.includes(1));
}

/** `sort` and `sort_desc` of an instant query; a range has no order to give. */
export function sortSeries(
  op: 'sort' | 'sort_desc',
  rows: readonly SeriesRow[],
  { kind }: Columns,
): readonly SeriesRow[] {
  if (kind === 'range') return rows;
  const byValue = op === 'sort' ? ascending : descending;
  return rows
    .toSorted((a, b) => compareLabels(a.labels, b.labels))
    .sort((a, b) => byValue(a.values[0] ?? 0, b.values[0] ?? 0));
}
