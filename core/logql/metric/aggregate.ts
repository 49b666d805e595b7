import { type LabelSet, withoutEmpty } from '../../base/label-set.js';
import { entryBytes, seriesBytes } from '../../base/memory/byte-lru.js';
import { compareLabels, groupLabels, SeriesIndex, seriesLimitError } from './result.js';
import { atPace, doAll, eachAtPace, type Pacer, sortSteps, type Steps } from '../../base/pace/steps.js';
import { averageState, type StateKind } from './states.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { zeroBytes, zeroNumbers } from '../../base/memory/slab.js';
import type { Grouping } from '../ast.js';
import type { Columns } from './windows.js';
import { emptyRow, type SeriesRow } from './work.js';

export interface Folding {
  readonly memory: MemoryAccount;
  readonly pacer: Pacer;
  /** Maximum number of groups; 0 means unlimited. */
  readonly maxGroups: number;
  /**
   * Set if Loki splits the average into a sum and a count: the seconds by which it divides the sum first. A label without a value is then not
   * shown, but still distinguishes groups.
   */
  readonly dividedBy?: number | undefined;
}

/** Folds series by group, column by column. It only keeps one state per group and column. */
export async function foldSeries(
  state: StateKind,
  grouping: Grouping | undefined,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  { memory, pacer, maxGroups, dividedBy }: Folding,
): Promise<Iterable<SeriesRow>> {
  const kind = dividedBy === undefined ? state : averageState(dividedBy);
  const groupOf = groupLabels(grouping);
  const groups = new SeriesIndex(memory, 0, dividedBy === undefined ? undefined : withoutEmpty);
  const folded: Float64Array[] = [];
  await eachAtPace(rows, pacer, (row) => {
    const group = groups.of(groupOf(row.labels));
    let states = folded[group];
    if (states === undefined) {
      if (maxGroups > 0 && group >= maxGroups) throw seriesLimitError(maxGroups);
      memory.charge(seriesBytes(count, kind.width * 8), 'the values of series');
      states = zeroNumbers(count * kind.width);
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
  const row = emptyRow(labels, count);
  for (let column = 0; column < count; column += 1) {
    const at = column * kind.width;
    if ((state[at] ?? 0) === 0) continue;
    row.present[column] = 1;
    row.values[column] = kind.result(state, at, 0, 0);
  }
  return row;
}

/**
 * The first k series of each group in an order of values, column by column. For equal values Loki's choice
 * is undefined; here the first series by labels wins.
 */
export async function chooseSeries(
  byValue: (a: number, b: number) => number,
  k: number,
  grouping: Grouping | undefined,
  rows: readonly SeriesRow[],
  { count }: Columns,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<readonly SeriesRow[]> {
  const groupOf = groupLabels(grouping);
  const groups = new SeriesIndex(memory);
  const members: Member[][] = [];
  await eachAtPace(await atPace(byLabels(rows), pacer), pacer, (row) => {
    memory.charge(seriesBytes(count, 1) + entryBytes, 'the values of series');
    const chosen = { ...row, present: zeroBytes(count) };
    (members[groups.of(groupOf(row.labels))] ??= []).push({ from: row, chosen });
  });
  for (const group of members) {
    for (let column = 0; column < count; column += 1) {
      const steps = inOrder(group, column, byValue);
      // There may be many small groups.
      const best = group.length <= stepMembers ? doAll(steps) : await atPace(steps, pacer);
      for (const { chosen } of best.slice(0, k)) chosen.present[column] = 1;
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
  const chosen: SeriesRow[] = [];
  await eachAtPace(members.flat(), pacer, (member) => {
    if (member.chosen.present.includes(1)) chosen.push(member.chosen);
  });
  return chosen;
}

/** Members handled per step. */
const stepMembers = 1_000;

/** The members with a sample in a column, sorted by its value. */
function* inOrder(
  group: readonly Member[],
  column: number,
  byValue: (a: number, b: number) => number,
): Steps<readonly Member[]> {
  const present: Member[] = [];
  for (const [index, member] of group.entries()) {
    if (member.from.present[column] === 1) present.push(member);
    if ((index + 1) % stepMembers === 0) yield;
  }
  const valueOf = ({ from }: Member): number => from.values[column] ?? 0;
  return yield* sortSteps(present, (a, b) => byValue(valueOf(a), valueOf(b)));
}

/** A series, and the columns in which it was chosen. */
interface Member {
  readonly from: SeriesRow;
  readonly chosen: SeriesRow;
}

/** Sorts the series of an instant query by their values; those of a range query stay as they are. */
export function* sortSeries(
  byValue: (a: number, b: number) => number,
  rows: readonly SeriesRow[],
  { kind }: Columns,
): Steps<readonly SeriesRow[]> {
  if (kind === 'range') return rows;
  const sorted = yield* byLabels(rows);
  return yield* sortSteps(sorted, (a, b) => byValue(a.values[0] ?? 0, b.values[0] ?? 0));
}

function byLabels(rows: readonly SeriesRow[]): Steps<SeriesRow[]> {
  return sortSteps([...rows], (a, b) => compareLabels(a.labels, b.labels));
}
