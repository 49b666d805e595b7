import type { TimeRange } from '../../core/api/request.js';
import { apiError } from '../../core/errors/table.js';
import type { EntrySource } from '../../core/logql/metric/index.js';
import type { PipelineEntry } from '../../core/logql/pipeline/types.js';
import type { LogsqlFilter, LogsqlPipe } from '../../core/logsql/ast.js';
import { and, query, stats, statsFunction } from '../../core/logsql/build.js';
import type { Naming } from '../../core/names/naming.js';
import type { LogRow, RowReader } from '../../core/names/row-reader.js';
import { missingLineRows } from '../../core/plan/missing-lines.js';
import type { LeafPlan } from '../../core/plan/metric.js';
import type { Upstream } from '../../core/plugin/index.js';
import type { MetricCounts } from './metric-counts.js';
import { Repeats } from './metric-repeats.js';
import { planWindows } from './metric-windows.js';

export interface RowContext {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  /** Rows that one range aggregation may read (`-manual-range-metric-row-limit`); 0 is no bound. */
  readonly maxRows: number;
  readonly counts: MetricCounts;
}

/** Rows whose lines are held at once, to find those that were pushed twice. */
const windowRows = 50_000;

/** The entries of a leaf from the backend's rows, each once; stretch of time by stretch of time, so that memory stays flat. */
export async function* readEntries(
  plan: Pick<LeafPlan, 'selection' | 'columns'>,
  filter: LogsqlFilter,
  range: TimeRange,
  { upstream, reader, naming, maxRows, counts }: RowContext,
): AsyncGenerator<readonly LogRow[]> {
  const [windows, missing] = await Promise.all([
    planWindows(upstream, plan.selection, range, windowRows),
    plan.columns === undefined ? 0 : countRows(upstream, and(plan.selection, missingLineRows(naming)), range),
  ]);
  const pipes: readonly LogsqlPipe[] =
    plan.columns === undefined || missing > 0 ? [] : [{ kind: 'fields', fields: plan.columns }];
  const repeats = new Repeats();
  let read = 0;
  for (const window of windows) {
    repeats.clear();
    for await (const batch of upstream.rows({ query: query(filter, pipes), range: window.range })) {
      read += batch.length;
      if (maxRows > 0 && read > maxRows) throw apiError('metricRows', {});
      const rows: LogRow[] = [];
      for (const each of batch) {
        const row = reader.read(each);
        counts.row(row);
        if (!repeats.isRepeated(row)) rows.push(row);
      }
      yield rows;
    }
  }
}

/** A source of entries that reads rows. */
export function rowEntrySource(
  planOf: (leaf: LeafPlan['leaf']) => LeafPlan,
  context: RowContext,
): EntrySource {
  return {
    async *entries(leaf, { fromNs, toNs }, signal) {
      const plan = planOf(leaf);
      const range = { startNs: fromNs, endNs: toNs + 1n };
      for await (const rows of readEntries(plan, plan.logs.filter, range, context)) {
        signal.throwIfAborted();
        yield rows.map(entryOf);
      }
    },
  };
}

/** A row as pipelines take it. */
export function entryOf({ stream, structuredMetadata, timestampNs, line }: LogRow): PipelineEntry {
  return { stream: stream.labels, structuredMetadata, timestampNs, line };
}

/** How many rows there are; a sum that the backend makes. */
export async function countRows(upstream: Upstream, filter: LogsqlFilter, range: TimeRange): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  let rows = 0;
  for (const { value } of await upstream.stats({ query: query(filter, [counting]), range }))
    rows += Number(value);
  return rows;
}
