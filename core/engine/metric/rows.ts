import { apiError } from '../../base/errors/table.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import {
  entryLeafSource,
  unpackTable,
  Windows,
  type EntrySource,
  type LeafRequest,
  type MetricLimits,
  type SeriesTable,
} from '../../logql/metric/index.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../victoria/logsql/ast.js';
import { query } from '../../victoria/logsql/build.js';
import type { RowsRequest, Upstream } from '../../victoria/upstream/types.js';
import type { LeafPlan } from '../plan/types.js';
import { countRows } from '../rows/count-rows.js';
import type { Attempt, LeafContext, Strategy } from './context.js';
import { duplicateRows } from './count/duplicates.js';
import { readStreams } from './count/stream-listing.js';
import { wholeStretches } from './count/time-stretches.js';
import { decline, isDeclined } from './declined.js';
import { placesOf, RowIntake, type RepeatPlaces } from './row-intake.js';
import type { RowStreams } from './row-streams.js';
import { callRows, planWindows, rowsOfStreams } from './row-windows.js';
import type { RowJob } from './threads/row-job.js';

/** Rows whose lines are held at once to detect repeated ones. */
const windowRows = 50_000;

/** Over ranges from here on too many rows are found by counting them, and not by reading as many as there may be. */
const countedFromNs = 6n * 3_600_000_000_000n;

/** Which rows to read, and how. */
export interface RowRequest {
  readonly filter: LogsqlFilter;
  /** Matches all rows of `filter`, and can be counted cheaply. */
  readonly selection: LogsqlFilter;
  /** Pipes to apply to the rows before they are sent. */
  readonly pipes?: readonly LogsqlPipe[];
  /** Undefined for all, which are read as well where rows have to be compared. */
  readonly columns: readonly FieldRef[] | undefined;
  readonly range: TimeRange;
  /** How rows tell their streams, when that is not `_stream`. */
  readonly streams?: RowStreams;
  /** Where rows may have been pushed twice; anywhere unless told. */
  readonly repeats?: RepeatPlaces;
  /** The number of rows of `selection` in the range, if known. */
  readonly selectedRows?: number;
}

/** What rows are read with. */
type RowsContext = Pick<LeafContext, 'upstream' | 'reader' | 'maxRows' | 'counts' | 'repeatedRows'> & {
  readonly limits: Pick<MetricLimits, 'memory'>;
};

/** Reads rows, each entry once; all parts of a long range use one place among heavy queries. */
export async function* readEntries(
  asked: RowRequest,
  { upstream, reader, maxRows, counts, limits: { memory }, ...context }: RowsContext,
): AsyncGenerator<readonly PipelineEntry[]> {
  const request = byRule(asked, context);
  const { repeats = 'anywhere', streams } = request;
  const intake = new RowIntake({ reader, counts, memory, repeats, streams });
  for await (const call of callsFor(request, upstream, maxRows)) {
    intake.next();
    for await (const batch of upstream.rows(call)) {
      call.read(batch);
      yield intake.take(batch);
    }
  }
}

/** Counts the samples of a leaf in rows: many of them in another thread, so that no other request waits for it. */
export async function countRowsOf(
  rows: RowRequest,
  asked: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable> {
  const request = byRule(rows, context);
  const { upstream, maxRows } = context;
  const job = jobFor(request, asked, context);
  if (job === undefined) {
    const entries = (): AsyncGenerator<readonly PipelineEntry[]> => readEntries(request, context);
    return entryLeafSource({ entries }, context.workers).series(asked);
  }
  try {
    for await (const call of callsFor(request, upstream, maxRows)) {
      const parts =
        upstream.rowsBy?.(call, (admitted) => job.read(admitted)) ?? job.readRows(upstream.rows(call));
      for await (const part of parts) call.read(part);
    }
    return await unpackTable(asked, await job.finish());
  } finally {
    job.close();
  }
}

/** A request for rows that need not be compared where each counts as it is stored. */
function byRule(request: RowRequest, { repeatedRows }: Pick<LeafContext, 'repeatedRows'>): RowRequest {
  return repeatedRows === 'stored' ? { ...request, repeats: 'nowhere' } : request;
}

/** More streams than this would take too long to tell. */
const mostStreams = 20_000;

function jobFor(
  { pipes = [], columns, repeats = 'anywhere', streams, selectedRows = 0 }: RowRequest,
  { leaf, columns: grid, limits, signal }: LeafRequest,
  { rowThreads, naming, counts }: LeafContext,
): RowJob | undefined {
  if ((streams?.texts?.size ?? 0) > mostStreams) return undefined;
  const { range, pushed, folded, merged, isCapped, isRoot } = leaf;
  const { memory, ...others } = limits;
  return rowThreads?.begin(
    selectedRows,
    {
      leaf: { range, pushed, folded, merged, isCapped, isRoot },
      columns: grid,
      limits: others,
      memory: { limit: memory.limit, held: memory.held },
      naming: naming.settings,
      pipes: pipesOf({ pipes, columns, repeats }),
      repeats,
      streams,
    },
    { signal, memory, counts },
  );
}

/** A call for some of the rows, to be told of those that were read. */
interface RowCall extends RowsRequest {
  /** @throws ApiError `metricRows` once there are more than may be read */
  read(rows: { readonly length: number }): void;
}

/** One window of time after the other, so that memory stays constant. */
async function* callsFor(request: RowRequest, upstream: Upstream, maxRows: number): AsyncGenerator<RowCall> {
  const { filter, selection, range, repeats = 'anywhere' } = request;
  const leave = await upstream.hold?.(range);
  try {
    const mayBeTooMany = maxRows > 0 && (request.selectedRows ?? Infinity) > maxRows;
    if (mayBeTooMany && range.endNs - range.startNs >= countedFromNs) {
      const rows = await countRows(upstream, filter, range);
      if (rows > maxRows) throw apiError('metricRowsCounted', { limit: maxRows, rows });
    }
    const most = repeats === 'anywhere' ? windowRows : callRows;
    const isSmall = request.selectedRows !== undefined && request.selectedRows <= most;
    const windows = isSmall ? [{ range }] : await planWindows(upstream, selection, range, most);
    const asked = query(filter, pipesOf(request));
    let rows = 0;
    const read: RowCall['read'] = ({ length }) => {
      rows += length;
      if (maxRows > 0 && rows > maxRows) throw apiError('metricRows', {});
    };
    for (const window of windows) yield { query: asked, range: window.range, read };
  } finally {
    leave?.();
  }
}

type ReadColumns = Pick<RowRequest, 'pipes' | 'columns' | 'repeats'>;

function pipesOf({ pipes = [], columns, repeats = 'anywhere' }: ReadColumns): readonly LogsqlPipe[] {
  return columns === undefined || repeats === 'anywhere'
    ? pipes
    : [...pipes, { kind: 'fields', fields: columns }];
}

/** The entries of a leaf, from its rows. */
export function rowEntrySource(plan: PlannedRows, context: LeafContext): EntrySource {
  return {
    async *entries(_leaf, { fromNs, toNs }, signal) {
      const rowsOf = await rowRequest(plan, { startNs: fromNs, endNs: toNs + 1n }, context, signal);
      yield* readEntries(rowsOf, context);
    },
  };
}

type PlannedRows = Pick<LeafPlan, 'logs' | 'selection' | 'columns'>;

/** Which rows to read for a leaf, by what is known of its selection. */
async function rowRequest(
  { logs, selection, columns }: PlannedRows,
  range: TimeRange,
  context: LeafContext,
  signal: AbortSignal,
): Promise<RowRequest> {
  const asked = { ...context, selection, columns: [] };
  const looked = wholeStretches(range);
  const listed = await context.upstream.list({ listing: 'streams', query: query(selection), range: looked });
  const profile = await context.profiler.of(asked, range, { range: looked, listed });
  const streams = await atPace(readStreams(listed, context.reader), new Pacer(signal));
  // The line of a row without one is built from all its fields.
  const read = profile.missing > 0 ? undefined : columns;
  const { memory } = context.limits;
  const { filter } = logs;
  const surplus = await duplicateRows({ ...context, memory, filter, range, streams, profile });
  return {
    ...{ filter, selection, range, columns: read },
    repeats: isDeclined(surplus) ? 'anywhere' : placesOf(surplus, read),
    selectedRows: rowsOfStreams(listed),
  };
}

/** Reads rows with only the columns that the query uses. */
export const rowsStrategy: Strategy = {
  name: 'rows',
  summary: 'rows are read with the columns that the query sees',
  namesFailedEntry: 'partly',
  prepare: (leaf) => (leaf.columns === undefined ? decline('all-columns') : fromRows(leaf)),
};

/** Reads rows with all their columns. */
export const wholeRowsStrategy: Strategy = {
  name: 'whole-rows',
  summary: 'rows are read with all columns',
  namesFailedEntry: 'fully',
  prepare: (leaf) => fromRows({ ...leaf, columns: undefined }),
};

function fromRows(leaf: LeafPlan): Attempt {
  return async (request, context) => {
    const { fromNs, toNs } = new Windows(request.columns, request.leaf.range.range).interval;
    const range = { startNs: fromNs, endNs: toNs + 1n };
    const rows = await rowRequest(leaf, range, context, request.signal);
    return countRowsOf(rows, request, context);
  };
}
