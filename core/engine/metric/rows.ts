import { apiError } from '../../base/errors/table.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import { entryLeafSource, type EntrySource, type MetricLimits } from '../../logql/metric/index.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../victoria/logsql/ast.js';
import { query, stats, statsFunction } from '../../victoria/logsql/build.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { BackendRow, Upstream } from '../../victoria/upstream/types.js';
import type { LeafPlan } from '../plan/types.js';
import type { Attempt, LeafContext, Strategy } from './context.js';
import type { SelectionProfile } from './count/profile.js';
import { readStreams, streamsWithSameLabels } from './count/stream-listing.js';
import { decline } from './declined.js';
import { Repeats } from './repeats.js';
import { callRows, planWindows, rowsOfStreams } from './row-windows.js';

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
  /** Undefined for all. */
  readonly columns: readonly FieldRef[] | undefined;
  readonly range: TimeRange;
  /** Converts the output of the pipes to rows. */
  readonly rewrite?: (row: BackendRow) => BackendRow;
  /** Skips rows that are counted elsewhere. */
  readonly accepts?: (row: BackendRow) => boolean;
  /** Where rows may have been pushed twice; anywhere unless told. */
  readonly repeats?: RepeatPlaces;
  /** The number of rows of `selection` in the range, if known. */
  readonly selectedRows?: number;
}

/** Times at which rows may repeat. */
export type RepeatPlaces = 'anywhere' | 'nowhere' | ReadonlySet<number>;

/** What rows are read with. */
type RowsContext = Pick<LeafContext, 'upstream' | 'reader' | 'maxRows' | 'counts'> & {
  readonly limits: Pick<MetricLimits, 'memory'>;
};

/** Reads rows, each entry once; all parts of a long range use one place among heavy queries. */
export async function* readEntries(
  request: RowRequest,
  context: RowsContext,
): AsyncGenerator<readonly LogRow[]> {
  const leave = await context.upstream.hold?.(request.range);
  try {
    yield* readParts(request, context);
  } finally {
    leave?.();
  }
}

/** One window of time after the other, so that memory stays constant. */
async function* readParts(
  request: RowRequest,
  { upstream, reader, maxRows, counts, limits }: RowsContext,
): AsyncGenerator<readonly LogRow[]> {
  const {
    filter,
    selection,
    columns,
    range,
    accepts = () => true,
    rewrite = asItIs,
    repeats: places = 'anywhere',
  } = request;
  const mayBeTooMany = maxRows > 0 && (request.selectedRows ?? Infinity) > maxRows;
  if (mayBeTooMany && range.endNs - range.startNs >= countedFromNs) {
    const rows = await countRows(upstream, filter, range);
    if (rows > maxRows) throw apiError('metricRowsCounted', { limit: maxRows, rows });
  }
  const most = places === 'anywhere' ? windowRows : callRows;
  const isSmall = request.selectedRows !== undefined && request.selectedRows <= most;
  const windows = isSmall ? [{ range }] : await planWindows(upstream, selection, range, most);
  const pipes: readonly LogsqlPipe[] = [
    ...(request.pipes ?? []),
    ...(columns === undefined ? [] : [{ kind: 'fields', fields: columns } as const]),
  ];
  const repeats = new Repeats(limits.memory);
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
        if (!mayRepeat(row, places) || !repeats.isRepeated(row)) rows.push(row);
      }
      yield rows;
    }
  }
}

function mayRepeat({ timestampNs }: LogRow, places: RepeatPlaces): boolean {
  if (places === 'anywhere' || places === 'nowhere') return places === 'anywhere';
  return places.size > 0 && places.has(roughly(timestampNs));
}

/** A number for a time: times that differ may have the same, which only costs a look. */
function roughly(timeNs: bigint): number {
  return Number(timeNs);
}

/** Where rows may repeat by what is known of a selection; streams with the same labels are one stream. */
export function placesOfRepeats(
  { repeatedAt }: Pick<SelectionProfile, 'repeatedAt'>,
  hasSameLabels: boolean,
): RepeatPlaces {
  if (repeatedAt === undefined || hasSameLabels) return 'anywhere';
  return repeatedAt.length === 0 ? 'nowhere' : new Set(repeatedAt.map(roughly));
}

const asItIs = (row: BackendRow): BackendRow => row;

/** The entries of a leaf, from its rows. */
export function rowEntrySource(
  plan: Pick<LeafPlan, 'logs' | 'selection' | 'columns'>,
  context: LeafContext,
): EntrySource {
  return {
    async *entries(_leaf, { fromNs, toNs }, signal) {
      const { selection } = plan;
      const range = { startNs: fromNs, endNs: toNs + 1n };
      const asked = { ...context, selection, columns: [] };
      const listed = await context.upstream.list({ listing: 'streams', query: query(selection), range });
      const profile = await context.profiler.of(asked, range, listed);
      const pacer = new Pacer(signal);
      const streams = await atPace(readStreams(listed, context.reader), pacer);
      const sameLabelStreams = await atPace(streamsWithSameLabels(streams), pacer);
      const rowsOf: RowRequest = {
        ...{ filter: plan.logs.filter, selection, range },
        // The line of a row without one is built from all its fields.
        columns: profile.missing > 0 ? undefined : plan.columns,
        repeats: placesOfRepeats(profile, sameLabelStreams.size > 0),
        selectedRows: rowsOfStreams(listed),
      };
      for await (const rows of readEntries(rowsOf, context)) {
        signal.throwIfAborted();
        yield rows.map(entryOf);
      }
    },
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
  return (request, context) =>
    entryLeafSource(rowEntrySource(leaf, context), context.workers).series(request);
}

/** Converts a row to the input of a pipeline. */
export function entryOf({ stream, structuredMetadata, timestampNs, line }: LogRow): PipelineEntry {
  return { stream: stream.labels, structuredMetadata, timestampNs, line };
}

/** Lets the backend count rows. */
export async function countRows(upstream: Upstream, filter: LogsqlFilter, range: TimeRange): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  let rows = 0;
  for (const { value } of await upstream.stats({ query: query(filter, [counting]), range }))
    rows += Number(value);
  return rows;
}
