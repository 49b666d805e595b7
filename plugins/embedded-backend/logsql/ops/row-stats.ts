import { timeOf } from '../../../../core/victoria/logsql/eval/filter.js';
import { OverlayRow } from '../../../../core/victoria/logsql/ops/derived-row.js';
import {
  emitAll,
  rowOverhead,
  type Operator,
  type PipeBudget,
  type PipeContext,
} from '../../../../core/victoria/logsql/ops/operator.js';
import { StatsGroups, type StatsGroup } from '../../../../core/victoria/logsql/ops/stats.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { RowStatsPipe } from '../ast.js';

/** `running_stats` and `total_stats`: the rows themselves in time order, with the results so far or over all of them. */
export function rowStatsOperator(
  pipe: RowStatsPipe,
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
  const known = new Map<StatsGroup, Map<string, string>>();
  for (const { row } of rows) {
    const group = groups.groupOf(row);
    const results = known.get(group) ?? groups.results(group);
    known.set(group, results);
    yield new OverlayRow(row, results);
  }
}
