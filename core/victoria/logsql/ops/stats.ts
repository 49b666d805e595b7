import type { GroupKey, StatsPipe } from '../ast.js';
import { timeBucketer, valueBucketer } from '../bucket.js';
import { timeOf, type RowTest } from '../eval/filter.js';
import { groupedValue, parseLogsqlDuration } from '../numbers.js';
import { printPipe } from '../print.js';
import type { RowView } from '../row.js';
import { formatTime } from '../literals.js';
import { OverlayRow } from './derived-row.js';
import { PipeBudget, emitAll, rowOverhead, textSize, type Operator, type PipeContext } from './operator.js';
import { rowOf } from './shape.js';
import { accumulatorFactory } from './stats-functions.js';
import type { Accumulator } from './accumulator.js';
import { compileCondition } from './update.js';

interface Column {
  readonly as: string;
  readonly applies: RowTest;
  readonly create: () => Accumulator;
}

interface Group {
  readonly values: readonly string[];
  readonly accumulators: readonly Accumulator[];
}

/** The groups of a stats pipe with their accumulators. */
class StatsGroups {
  readonly #by: readonly GroupKey[];
  readonly #keys: readonly ((row: RowView) => string)[];
  readonly #columns: readonly Column[];
  readonly #budget: PipeBudget;
  readonly #groups = new Map<string, Group>();

  constructor(pipe: StatsPipe, context: PipeContext, budget: PipeBudget) {
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

  add(row: RowView): Group {
    const group = this.groupOf(row);
    this.update(group, row);
    return group;
  }

  groupOf(row: RowView): Group {
    const values = this.#keys.map((key) => key(row));
    const key = values.length < 2 ? (values[0] ?? '') : JSON.stringify(values);
    return this.#groups.get(key) ?? this.#open(key, values);
  }

  update(group: Group, row: RowView): void {
    for (let i = 0; i < this.#columns.length; i++) {
      if (this.#columns[i]?.applies(row) === true) group.accumulators[i]?.add(row);
    }
  }

  /** The results of a group by column name. */
  results(group: Group): Map<string, string> {
    return new Map(this.#columns.map(({ as }, i) => [as, group.accumulators[i]?.result() ?? '']));
  }

  *rows(): Generator<RowView> {
    for (const group of this.#groups.values()) {
      const fields = new Map(this.#by.map(({ field }, i) => [field, group.values[i] ?? '']));
      for (const [name, value] of this.results(group)) fields.set(name, value);
      yield rowOf(fields);
    }
  }

  #open(key: string, values: readonly string[]): Group {
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
function secondsPerGroup(pipe: StatsPipe, context: PipeContext): number | undefined {
  const size = pipe.by.find((key) => key.field === '_time')?.bucket?.size;
  const ns = size === undefined ? undefined : parseLogsqlDuration(size);
  if (ns !== undefined) return ns / 1e9;
  return context.rangeNs === undefined ? undefined : Number(context.rangeNs) / 1e9;
}

/** `stats`: one row per group, in order of first appearance; without `by` always one row. */
export function statsOperator(pipe: StatsPipe, context: PipeContext, next: Operator): Operator {
  const budget = new PipeBudget(() => printPipe(pipe), context);
  if (pipe.kind !== 'stats') return accompanyingStats(pipe, context, budget, next);
  const groups = new StatsGroups(pipe, context, budget);
  return {
    push(row) {
      groups.add(row);
      return true;
    },
    finish: () => emitAll(groups.rows(), next),
  };
}

/** `running_stats` and `total_stats`: the rows themselves in time order, with the results so far or over all of them. */
function accompanyingStats(
  pipe: StatsPipe,
  context: PipeContext,
  budget: PipeBudget,
  next: Operator,
): Operator {
  const rows: { readonly row: RowView; readonly time: bigint }[] = [];
  return {
    push(row) {
      budget.add(rowOverhead);
      rows.push({ row, time: timeOf(row) ?? 0n });
      return true;
    },
    finish() {
      rows.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
      const groups = new StatsGroups(pipe, context, budget);
      const results = pipe.kind === 'running_stats' ? runningResults : totalResults;
      emitAll(results(groups, rows), next);
    },
  };
}

function* runningResults(
  groups: StatsGroups,
  rows: readonly { readonly row: RowView }[],
): Generator<RowView> {
  for (const { row } of rows) yield new OverlayRow(row, groups.results(groups.add(row)));
}

function* totalResults(groups: StatsGroups, rows: readonly { readonly row: RowView }[]): Generator<RowView> {
  for (const { row } of rows) groups.add(row);
  const known = new Map<Group, Map<string, string>>();
  for (const { row } of rows) {
    const group = groups.groupOf(row);
    const results = known.get(group) ?? groups.results(group);
    known.set(group, results);
    yield new OverlayRow(row, results);
  }
}
