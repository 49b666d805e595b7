import { floorTo } from '../../../base/time/index.js';
import type { GroupKey, StatsFunction, StatsPipe } from '../ast.js';
import { timeOf, type RowTest } from '../eval/filter.js';
import { formatTime } from '../literals.js';
import { groupedValue, parseDurationNs } from '../numbers.js';
import type { RowView } from '../row.js';
import type { Accumulator } from './accumulator.js';
import {
  emitAll,
  rowOverhead,
  textSize,
  type Operator,
  type PipeBudget,
  type PipeContext,
} from './operator.js';
import { rowOf } from './shape.js';
import { accumulatorFactory } from './stats-functions.js';
import { compileCondition } from './update.js';

/** The value of a row by which it is grouped. */
export type KeyReader = (row: RowView) => string;

/** Ways to compile the parts of a pipe of statistics. */
interface StatsMeans<Func> {
  readonly key: (key: GroupKey) => KeyReader;
  readonly accumulator: (func: Func) => () => Accumulator;
}

interface Key {
  readonly field: string;
  readonly read: KeyReader;
}

interface Column {
  readonly as: string;
  readonly applies: RowTest;
  readonly create: () => Accumulator;
}

export interface StatsGroup {
  readonly values: readonly string[];
  readonly accumulators: readonly Accumulator[];
}

/** The groups of a pipe of statistics with their accumulators. */
export class StatsGroups {
  readonly #keys: readonly Key[];
  readonly #columns: readonly Column[];
  readonly #budget: PipeBudget;
  readonly #groups = new Map<string, StatsGroup>();

  constructor(keys: readonly Key[], columns: readonly Column[], budget: PipeBudget) {
    this.#keys = keys;
    this.#columns = columns;
    this.#budget = budget;
    if (keys.length === 0) this.#open('', []);
  }

  add(row: RowView): StatsGroup {
    const group = this.groupOf(row);
    this.update(group, row);
    return group;
  }

  groupOf(row: RowView): StatsGroup {
    const values = this.#keys.map(({ read }) => read(row));
    const key = values.length < 2 ? (values[0] ?? '') : JSON.stringify(values);
    return this.#groups.get(key) ?? this.#open(key, values);
  }

  update(group: StatsGroup, row: RowView): void {
    for (let i = 0; i < this.#columns.length; i++) {
      if (this.#columns[i]?.applies(row) === true) group.accumulators[i]?.add(row);
    }
  }

  /** The results of a group by column name. */
  results(group: StatsGroup): Map<string, string> {
    return new Map(this.#columns.map(({ as }, i) => [as, group.accumulators[i]?.result() ?? '']));
  }

  *rows(): Generator<RowView> {
    for (const group of this.#groups.values()) {
      const fields = new Map(this.#keys.map(({ field }, i) => [field, group.values[i] ?? '']));
      for (const [name, value] of this.results(group)) fields.set(name, value);
      yield rowOf(fields);
    }
  }

  #open(key: string, values: readonly string[]): StatsGroup {
    const group = { values, accumulators: this.#columns.map(({ create }) => create()) };
    this.#budget.add(rowOverhead + 2 * textSize(key) + 48 * group.accumulators.length);
    this.#groups.set(key, group);
    return group;
  }
}

/** The groups for the keys and functions of a pipe. */
export function statsGroupsOf<Func extends Pick<StatsFunction, 'as' | 'condition'>>(
  pipe: { readonly by: readonly GroupKey[]; readonly functions: readonly Func[] },
  means: StatsMeans<Func>,
  context: PipeContext,
  budget: PipeBudget,
): StatsGroups {
  const keys = pipe.by.map((key) => ({ field: key.field, read: means.key(key) }));
  const columns = pipe.functions.map((func) => ({
    as: func.as,
    applies: compileCondition(func.condition, context),
    create: means.accumulator(func),
  }));
  return new StatsGroups(keys, columns, budget);
}

/** Reads a value, or a time rounded down to its bucket of nanoseconds. */
export function keyReader({ field, bucket }: GroupKey): KeyReader {
  if (bucket === undefined) return (row) => groupedValue(row.get(field));
  const [size = 1n, offset = 0n] = [parseDurationNs(bucket.size), parseDurationNs(bucket.offset ?? '0ns')];
  return timeReader((ns) => bucketFloor(ns, size, offset));
}

/** The start of the bucket for a time, with buckets `[k*size - offset, (k+1)*size - offset)`. */
export function bucketFloor(ns: bigint, size: bigint, offset: bigint): bigint {
  return floorTo(ns + offset, size) - offset;
}

/** Reads the start of the bucket for the time of a row. */
export function timeReader(start: (ns: bigint) => bigint): KeyReader {
  let lastStart: bigint | undefined;
  let lastText = '';
  return (row) => {
    const time = timeOf(row);
    if (time === undefined) return row.get('_time');
    const found = start(time);
    // Consecutive rows mostly share their bucket.
    if (found !== lastStart) {
      lastStart = found;
      lastText = formatTime(found);
    }
    return lastText;
  };
}

/** `stats` with the functions that the proxy writes. */
export function statsOperator(
  pipe: StatsPipe,
  context: PipeContext,
  budget: PipeBudget,
  next: Operator,
): Operator {
  const settings = { lenient: pipe.by.length === 0, budget };
  const accumulator = (func: StatsFunction): (() => Accumulator) => accumulatorFactory(func, settings);
  return groupingOperator(statsGroupsOf(pipe, { key: keyReader, accumulator }, context, budget), next);
}

/** Emits one row per group, in order of first appearance; without `by` always one row. */
export function groupingOperator(groups: StatsGroups, next: Operator): Operator {
  return {
    push(row) {
      groups.add(row);
      return true;
    },
    finish: () => emitAll(groups.rows(), next),
  };
}
