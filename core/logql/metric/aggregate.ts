import { type LabelSet, withoutEmpty } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { seriesBytes } from '../../base/memory/sizes.js';
import type { Grouping } from '../ast.js';
import type { Columns } from './columns.js';
import { groupLabels } from './grouping.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { seriesLimitError } from './series-cap.js';
import { SeriesIndex } from './series-index.js';
import { averageState, type StateKind } from './states.js';
import type { SeriesRow } from './types.js';

export interface Folding {
  readonly memory: MemoryAccount;
  readonly pacer: Pacer;
  /** The most groups; 0 means unlimited. */
  readonly maxGroups: number;
  /** Whether Loki divides the average into a sum and a count: then a label without a value is not shown, but still distinguishes groups. */
  readonly isDivided?: boolean;
}

/** Folds series by group, column by column. Only keeps one state per group and column. */
export async function foldSeries(
  state: StateKind,
  grouping: Grouping | undefined,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  { memory, pacer, maxGroups, isDivided = false }: Folding,
): Promise<Iterable<SeriesRow>> {
  const kind = isDivided ? averageState : state;
  const groupOf = groupLabels(grouping);
  const groups = new SeriesIndex(memory, 0, isDivided ? withoutEmpty : undefined);
  const folded: Float64Array[] = [];
  await eachAtPace(rows, pacer, (row) => {
    const group = groups.of(groupOf(row.labels));
    let states = folded[group];
    if (states === undefined) {
      if (maxGroups > 0 && group >= maxGroups) throw seriesLimitError(maxGroups);
      memory.charge(seriesBytes(count, kind.width * 8), 'the values of series');
      states = new Float64Array(count * kind.width);
      folded[group] = states;
    }
    for (let column = 0; column < count; column += 1) {
      if (row.present[column] === 1) kind.add(states, column * kind.width, row.values[column] ?? 0, 0);
    }
  });
  return rowsOf(groups.sets, kind, folded, count);
}

/** The rows of groups, made one at a time while they are read. */
function* rowsOf(
  groups: readonly LabelSet[],
  kind: StateKind,
  folded: readonly Float64Array[],
  count: number,
): Generator<SeriesRow> {
  for (const [group, labels] of groups.entries())
    yield rowOf(labels, kind, folded[group] ?? new Float64Array(), count);
}

function rowOf(labels: LabelSet, kind: StateKind, state: Float64Array, count: number): SeriesRow {
  const row = { labels, values: new Float64Array(count), present: new Uint8Array(count) };
  for (let column = 0; column < count; column += 1) {
    const at = column * kind.width;
    if ((state[at] ?? 0) === 0) continue;
    row.present[column] = 1;
    row.values[column] = kind.result(state, at, 0, 0);
  }
  return row;
}
