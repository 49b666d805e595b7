import type { GroupKey, StatsPipe } from '../ast.js';
import { timeBucketer, valueBucketer } from '../bucket.js';
import { timeOf, type RowTest } from '../eval/filter.js';
import { groupedValue, parseLogsqlDuration } from '../numbers.js';
import type { RowView } from '../row.js';
import { formatTime } from '../literals.js';
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
import type { Accumulator } from './accumulator.js';
import { compileCondition } from './update.js';

interface Column {
  readonly as: string;
  readonly applies: RowTest;
  readonly create: () => Accumulator;
}

export interface StatsGroup {
  readonly values: readonly string[];
  readonly accumulators: readonly Accumulator[];
}

/** The groups of a stats pipe with their accumulators. */
export class StatsGroups {
  readonly #by: readonly GroupKey[];
  readonly #keys: readonly ((row: RowView) => string)[];
  readonly #columns: readonly Column[];
  readonly #budget: PipeBudget;
  readonly #groups = new Map<string, StatsGroup>();

  constructor(pipe: Omit<StatsPipe, 'kind'>, context: PipeContext, budget: PipeBudget) {
    this.#by = pipe.by;
    this.#keys = pipe.by.map(compileKey);
    this.#budget = budget;
    const rateSeconds = secondsPerGroup(pipe, context);
    const settings = { rateSeconds, lenient: pipe.by.length === 0, budget };
    this.#columns = pipe.functions.map((func) => ({
      as: func.as,
      applies: compileCondition(func.condition, context),
      create: accumulatorFactory(func, settings),
    }));
    if (pipe.by.length === 0) this.#open('', []);
  }

  add(row: RowView): StatsGroup {
    const group = this.groupOf(row);
    this.update(group, row);
    return group;
  }

  groupOf(row: RowView): StatsGroup {
    const values = this.#keys.map((key) => key(row));
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
      const fields = new Map(this.#by.map(({ field }, i) => [field, group.values[i] ?? '']));
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

function compileKey({ field, bucket }: GroupKey): (row: RowView) => string {
  if (field === '_time') {
    if (bucket === undefined) return (row) => row.get('_time');
    const start = timeBucketer(bucket.size, bucket.offset);
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
  if (bucket === undefined) return (row) => groupedValue(row.get(field));
  const put = valueBucketer(bucket.size, bucket.offset);
  return (row) => put(row.get(field));
}

// Rates are per second of the time bucket, or of the whole selected range.
function secondsPerGroup(pipe: Pick<StatsPipe, 'by'>, context: PipeContext): number | undefined {
  const size = pipe.by.find((key) => key.field === '_time')?.bucket?.size;
  const ns = size === undefined ? undefined : parseLogsqlDuration(size);
  if (ns !== undefined) return ns / 1e9;
  return context.rangeNs === undefined ? undefined : Number(context.rangeNs) / 1e9;
}

/** `stats`: one row per group, in order of first appearance; without `by` always one row. */
export function statsOperator(groups: StatsGroups, next: Operator): Operator {
  return {
    push(row) {
      groups.add(row);
      return true;
    },
    finish: () => emitAll(groups.rows(), next),
  };
}
