import type { LabelSet } from '../../labels/label-set.js';
import type { Grouping, VectorOp } from '../ast.js';
import type { Columns } from './columns.js';
import { groupLabels } from './grouping.js';
import { deviationState, varianceState } from './moments.js';
import type { Pacer } from './pacer.js';
import { SeriesIndex } from './series-index.js';
import { countState, maxState, minState, sumState, type StateKind } from './states.js';
import type { SeriesRow } from './types.js';

/** Aggregations that make one value of all values of a group; the others choose and order. */
export type FoldingOp = Extract<VectorOp, 'sum' | 'avg' | 'min' | 'max' | 'count' | 'stddev' | 'stdvar'>;

const averageState: StateKind = {
  ...sumState,
  result: (state, at) => (state[at + 1] ?? 0) / (state[at] ?? 0),
};

const states: Readonly<Record<FoldingOp, StateKind>> = {
  sum: sumState,
  avg: averageState,
  min: minState,
  max: maxState,
  count: countState,
  stddev: deviationState,
  stdvar: varianceState,
};

/** Folds series by group, column by column; keeps no more of them than a state for each group and column. */
export async function foldSeries(
  op: FoldingOp,
  grouping: Grouping | undefined,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const kind = states[op];
  const groupOf = groupLabels(grouping);
  const groups = new SeriesIndex();
  const folded: Float64Array[] = [];
  for (const row of rows) {
    const group = groups.of(groupOf(row.labels));
    const state = (folded[group] ??= new Float64Array(count * kind.width));
    for (let column = 0; column < count; column += 1) {
      if (row.present[column] === 1) kind.add(state, column * kind.width, row.values[column] ?? 0, 0);
    }
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return groups.sets.map((labels, group) => rowOf(labels, kind, folded[group] ?? new Float64Array(), count));
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
