import type { GroupKey } from '../../../../core/victoria/logsql/ast.js';
import { timeOf } from '../../../../core/victoria/logsql/eval/filter.js';
import { parseLogsqlDuration } from '../../../../core/victoria/logsql/numbers.js';
import type { Accumulator } from '../../../../core/victoria/logsql/ops/accumulator.js';
import { OverlayRow } from '../../../../core/victoria/logsql/ops/derived-row.js';
import {
  emitAll,
  rowOverhead,
  type Operator,
  type PipeBudget,
  type PipeContext,
} from '../../../../core/victoria/logsql/ops/operator.js';
import {
  groupingOperator,
  statsGroupsOf,
  keyReader,
  timeReader,
  type KeyReader,
  type StatsGroup,
  type StatsGroups,
} from '../../../../core/victoria/logsql/ops/stats.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { EmbeddedFunction, EmbeddedStatsPipe } from '../ast.js';
import { timeBucketer, valueBucketer } from '../bucket.js';
import { embeddedFactory } from './stats-functions.js';

/** Inputs of pipes besides their rows. */
export interface EmbeddedContext extends PipeContext {
  /** Length of the selected time range, the divisor of `rate()`; an open range has none. */
  readonly rangeNs?: bigint | undefined;
}

/** `stats`, `running_stats` and `total_stats`. */
export function embeddedStatsOperator(
  pipe: EmbeddedStatsPipe,
  context: EmbeddedContext,
  budget: PipeBudget,
  next: Operator,
): Operator {
  if (pipe.kind !== 'stats') return rowStatsOperator(pipe, context, budget, next);
  return groupingOperator(embeddedGroups(pipe, context, budget), next);
}

function embeddedGroups(pipe: EmbeddedStatsPipe, context: EmbeddedContext, budget: PipeBudget): StatsGroups {
  const settings = { lenient: pipe.by.length === 0, budget };
  const rateSeconds = secondsPerGroup(pipe, context);
  const accumulator = (func: EmbeddedFunction): (() => Accumulator) =>
    embeddedFactory(func, settings, rateSeconds);
  return statsGroupsOf(pipe, { key: bucketReader, accumulator }, context, budget);
}

function bucketReader(key: GroupKey): KeyReader {
  const { field, bucket } = key;
  if (bucket === undefined) return keyReader(key);
  if (field === '_time') return timeReader(timeBucketer(bucket.size, bucket.offset));
  const put = valueBucketer(bucket.size, bucket.offset);
  return (row) => put(row.get(field));
}

// Rates are per second of the time bucket, or of the whole selected range.
function secondsPerGroup(pipe: EmbeddedStatsPipe, context: EmbeddedContext): number | undefined {
  const size = pipe.by.find((key) => key.field === '_time')?.bucket?.size;
  const ns = size === undefined ? undefined : parseLogsqlDuration(size);
  if (ns !== undefined) return ns / 1e9;
  return context.rangeNs === undefined ? undefined : Number(context.rangeNs) / 1e9;
}

/** `running_stats` and `total_stats`: the rows themselves in time order, with the results so far or over all of them. */
function rowStatsOperator(
  pipe: EmbeddedStatsPipe,
  context: EmbeddedContext,
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
      const groups = embeddedGroups(pipe, context, budget);
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
  const known = new Map<StatsGroup, Map<string, string>>();
  for (const { row } of rows) {
    const group = groups.groupOf(row);
    const results = known.get(group) ?? groups.results(group);
    known.set(group, results);
    yield new OverlayRow(row, results);
  }
}
