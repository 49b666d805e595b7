import { apiError } from '../../base/errors/table.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/sizes.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import { entryLeafSource, type EntrySource, type MetricLimits } from '../../logql/metric/index.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../victoria/logsql/ast.js';
import { query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import { parseRowTime } from '../../victoria/names/row-time.js';
import type { BackendRow, BackendValue, Upstream } from '../../victoria/upstream/types.js';
import type { LeafPlan } from '../plan/types.js';
import type { Attempt, LeafContext, Strategy } from './context.js';
import { readStreams, twinStreams } from './count/inventory.js';
import { decline } from './declined.js';

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

/** What rows are read with. */
type RowsContext = Pick<LeafContext, 'upstream' | 'reader' | 'maxRows' | 'counts'> & {
  readonly limits: Pick<MetricLimits, 'memory'>;
};

/** Reads rows, each entry once; all parts of a long range under one place among heavy queries. */
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

/** Stretch of time by stretch of time, so that memory stays flat. */
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
    mayRepeat = true,
  } = request;
  const most = mayRepeat ? windowRows : callRows;
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
        if (!mayRepeat || !repeats.isRepeated(row)) rows.push(row);
      }
      yield rows;
    }
  }
}

const asItIs = (row: BackendRow): BackendRow => row;

/** The entries of a leaf, from all of its rows. */
function rowEntrySource(plan: LeafPlan, context: LeafContext): EntrySource {
  return {
    async *entries(_leaf, { fromNs, toNs }, signal) {
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

/** Reads rows with the columns that the query sees. */
export const rowsStrategy: Strategy = {
  name: 'rows',
  summary: 'rows are read with the columns that the query sees',
  tellsEntry: 'in part',
  prepare: (leaf) => (leaf.columns === undefined ? decline('all-columns') : fromRows(leaf)),
};

/** Reads rows with all of their columns. */
export const wholeRowsStrategy: Strategy = {
  name: 'whole-rows',
  summary: 'rows are read with all columns',
  tellsEntry: 'wholly',
  prepare: (leaf) => fromRows({ ...leaf, columns: undefined }),
};

function fromRows(leaf: LeafPlan): Attempt {
  return (request, context) =>
    entryLeafSource(rowEntrySource(leaf, context), context.workers).series(request);
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

/** A stretch of time and the rows it had when they were counted. */
export interface RowWindow {
  readonly range: TimeRange;
  readonly rows: number;
}

/** Parts in which rows are counted at once. */
const parts = 128n;
const shortestPartNs = 1_000_000n;

/**
 * Cuts a range into windows of no more rows than told, as far as time can be cut, from old to new; stretches without rows are
 * left out. Rows that come in between do no harm: they are in one of the windows or too new to be asked for.
 */
export async function planWindows(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
  maxRows: number,
): Promise<readonly RowWindow[]> {
  const lengthNs = range.endNs - range.startNs;
  if (lengthNs <= 0n) return [];
  const partNs = lengthNs / parts < shortestPartNs ? shortestPartNs : lengthNs / parts;
  const counts = await countParts(upstream, filter, range, partNs);
  const windows: RowWindow[] = [];
  let open: RowWindow | undefined;
  for (const { startNs, rows } of counts) {
    const part = { range: clip(startNs, startNs + partNs, range), rows };
    if (open !== undefined && open.rows + rows <= maxRows) {
      open = { range: { startNs: open.range.startNs, endNs: part.range.endNs }, rows: open.rows + rows };
      continue;
    }
    if (open !== undefined) windows.push(open);
    open = undefined;
    if (rows <= maxRows || partNs === shortestPartNs) open = part;
    else windows.push(...(await planWindows(upstream, filter, part.range, maxRows)));
  }
  if (open !== undefined) windows.push(open);
  return windows;
}

async function countParts(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
  partNs: bigint,
): Promise<readonly { readonly startNs: bigint; readonly rows: number }[]> {
  const counting = stats([timeBucket(partNs)], statsFunction('count', [], 'rows'));
  const counts: { readonly startNs: bigint; readonly rows: number }[] = [];
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range })) {
    for (const row of batch) {
      counts.push({ startNs: parseRowTime(row['_time'] ?? ''), rows: Number(row['rows'] ?? 0) });
    }
  }
  return counts.sort((a, b) => (a.startNs < b.startNs ? -1 : 1));
}

function clip(startNs: bigint, endNs: bigint, range: TimeRange): TimeRange {
  return {
    startNs: startNs < range.startNs ? range.startNs : startNs,
    endNs: endNs > range.endNs ? range.endNs : endNs,
  };
}

type Lines = string | Set<string>;

/** Tells rows that were pushed to a stream before, with the same line and time: Loki keeps one entry of them. */
export class Repeats {
  /** Lines by stream and time, in nanoseconds since the first row's. */
  readonly #streams = new Map<string, Map<number, Lines>>();
  #originNs: bigint | undefined;
  readonly #memory: MemoryAccount;
  #held = 0;

  constructor(memory: MemoryAccount) {
    this.#memory = memory;
  }

  /** True for a row that is there already; rows may come in any order. */
  isRepeated({ stream, timestampNs, line }: Pick<LogRow, 'stream' | 'timestampNs' | 'line'>): boolean {
    this.#originNs ??= timestampNs;
    // A window of 104 days is told apart to the nanosecond; windows of rows are far shorter, or hold next to nothing.
    const at = Number(timestampNs - this.#originNs);
    const { key } = stream.labels;
    let times = this.#streams.get(key);
    if (times === undefined) this.#streams.set(key, (times = new Map<number, Lines>()));
    const lines = times.get(at);
    if (lines === undefined) {
      this.#hold(line);
      times.set(at, line);
      return false;
    }
    if (typeof lines === 'string') {
      if (lines === line) return true;
      this.#hold(line);
      times.set(at, new Set([lines, line]));
      return false;
    }
    if (lines.has(line)) return true;
    this.#hold(line);
    lines.add(line);
    return false;
  }

  /** Forgets everything, for a stretch of time that has nothing in common with the one before. */
  clear(): void {
    this.#streams.clear();
    this.#originNs = undefined;
    this.#memory.release(this.#held, 'log lines');
    this.#held = 0;
  }

  #hold(line: string): void {
    const bytes = entryBytes + textBytes(line);
    this.#held += bytes;
    this.#memory.charge(bytes, 'log lines');
  }
}
