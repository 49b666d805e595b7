import type { TimeRange } from '../../../base/time/range.js';
import { apiError } from '../../../base/errors/table.js';
import type { EntrySource } from '../../../logql/metric/index.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import type { PipelineEntry } from '../../../logql/pipeline/types.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { query, stats, statsFunction } from '../../../victoria/logsql/build.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { LogRow, RowReader } from '../../../victoria/names/row-reader.js';
import type { LeafPlan } from '../../plan/types.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import type { MetricCounts } from '../count/counts.js';
import type { BackendRow, BackendValue } from '../../../victoria/upstream/types.js';
import type { Memories } from '../../memories.js';
import { readStreams, twinStreams } from '../count/inventory.js';
import { Repeats } from './repeats.js';
import { planWindows } from './windows.js';

export interface RowContext extends Memories {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  /** Rows that one range aggregation may read (`-manual-range-metric-row-limit`); 0 is no bound. */
  readonly maxRows: number;
  readonly counts: MetricCounts;
  readonly workers: Pick<LineWorkers, 'run'>;
  /** Whose data the upstream gives: what is remembered is remembered for them. */
  readonly owner: string;
  /** What rows that are held are charged to. */
  readonly memory: MemoryAccount;
}

/** Rows whose lines are held at once, to find those that were pushed twice. */
const windowRows = 50_000;
/** Rows read by one call where none are held: the backend breaks off what lasts longer than its own deadline, by default 30 s. */
const callRows = 250_000;

/** What rows to read, and what of them. */
export interface RowRequest {
  readonly filter: LogsqlFilter;
  /** Includes the rows of `filter`, and can be counted cheaply. */
  readonly selection: LogsqlFilter;
  /** What is done with the rows before they are sent. */
  readonly pipes?: readonly LogsqlPipe[];
  /** Undefined for all. */
  readonly columns: readonly FieldRef[] | undefined;
  readonly range: TimeRange;
  /** Makes rows of what the pipes have made of them. */
  readonly rewrite?: (row: BackendRow) => BackendRow;
  /** Leaves rows out that are counted elsewhere. */
  readonly accepts?: (row: BackendRow) => boolean;
  /** False when it is known that no row was pushed twice. */
  readonly mayRepeat?: boolean;
  /** How many rows `selection` has in the range, where that is known. */
  readonly selectedRows?: number;
}

/** Reads rows, each entry once; all parts of a long range under one place among heavy queries. */
export async function* readEntries(
  request: RowRequest,
  context: RowContext,
): AsyncGenerator<readonly LogRow[]> {
  const leave = await context.upstream.hold?.(request.range);
  try {
    yield* readParts(request, context);
  } finally {
    leave?.();
  }
}

/** Stretch of time by stretch of time, so that memory stays flat. */
async function* readParts(
  request: RowRequest,
  { upstream, reader, maxRows, counts, memory }: RowContext,
): AsyncGenerator<readonly LogRow[]> {
  const {
    filter,
    selection,
    columns,
    range,
    accepts = () => true,
    rewrite = asItIs,
    mayRepeat = true,
  } = request;
  const most = mayRepeat ? windowRows : callRows;
  const isSmall = request.selectedRows !== undefined && request.selectedRows <= most;
  const windows = isSmall ? [{ range }] : await planWindows(upstream, selection, range, most);
  const pipes: readonly LogsqlPipe[] = [
    ...(request.pipes ?? []),
    ...(columns === undefined ? [] : [{ kind: 'fields', fields: columns } as const]),
  ];
  const repeats = new Repeats(memory);
  let read = 0;
  for (const window of windows) {
    repeats.clear();
    for await (const batch of upstream.rows({ query: query(filter, pipes), range: window.range })) {
      read += batch.length;
      if (maxRows > 0 && read > maxRows) throw apiError('metricRows', {});
      const rows: LogRow[] = [];
      for (const each of batch) {
        if (!accepts(each)) continue;
        const row = reader.read(rewrite(each));
        counts.row(row);
        if (!mayRepeat || !repeats.isRepeated(row)) rows.push(row);
      }
      yield rows;
    }
  }
}

const asItIs = (row: BackendRow): BackendRow => row;

/** A source of entries that reads rows. */
export function rowEntrySource(
  planOf: (leaf: LeafPlan['leaf']) => LeafPlan,
  context: RowContext,
): EntrySource {
  return {
    async *entries(leaf, { fromNs, toNs }, signal) {
      const plan = planOf(leaf);
      const { selection } = plan;
      const range = { startNs: fromNs, endNs: toNs + 1n };
      const asked = { ...context, selection, columns: [] };
      const listed = await context.upstream.list({ listing: 'streams', query: query(selection), range });
      const { missing, suspects } = await context.facts.of(asked, range, listed);
      const pacer = new Pacer(signal);
      const streams = await atPace(readStreams(listed, context.reader), pacer);
      const twins = await atPace(twinStreams(streams), pacer);
      const rowsOf: RowRequest = {
        ...{ filter: plan.logs.filter, selection, range },
        // The line of a row without one is made of all its fields.
        columns: missing > 0 ? undefined : plan.columns,
        mayRepeat: suspects.size > 0 || twins.size > 0,
        selectedRows: rowsOfStreams(listed),
      };
      for await (const rows of readEntries(rowsOf, context)) {
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

/** Rows of streams as the backend lists them. */
export function rowsOfStreams(listed: readonly BackendValue[]): number {
  return listed.reduce((sum, { hits }) => sum + hits, 0);
}

/** How many rows there are; a sum that the backend makes. */
export async function countRows(upstream: Upstream, filter: LogsqlFilter, range: TimeRange): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  let rows = 0;
  for (const { value } of await upstream.stats({ query: query(filter, [counting]), range }))
    rows += Number(value);
  return rows;
}
