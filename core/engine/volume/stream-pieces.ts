import type { Begun } from '../../base/pace/begun.js';
import type { Label, LabelSet } from '../../base/label-set.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, LogsqlQuery } from '../../victoria/logsql/ast.js';
import { and, query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import { parseRowTime } from '../../victoria/names/row-reader.js';
import { beginRows } from '../../victoria/upstream/begin-rows.js';
import { columnOf, isOwnColumn, type BackendRow } from '../../victoria/upstream/types.js';
import type { EngineContext } from '../context.js';
import {
  denseRows,
  duplicateRows,
  rowPartsOf,
  type DenseRows,
  type RowPart,
} from '../metric/count/duplicates.js';
import { rowsOfStreams, wholeSegments } from '../metric/count/time-segments.js';
import { missingLineRows } from '../plan/missing-lines.js';
import { readMetadataCosts, type MetadataCosts } from './metadata-bytes.js';
import type { VolumePiece } from './volume-buckets.js';
import { VolumePieces } from './volume-pieces.js';
import { atPace, Pacer } from '../../base/pace/steps.js';
import type { ProfileRequest } from '../metric/count/profile.js';
import { readStreams, streamsWithSameEntries, type ListedRange } from '../metric/count/stream-listing.js';
import { isDeclined } from '../metric/cost.js';
import { streamsFilter } from '../rows/repeating-streams.js';

/**
 * Maximum number of entries whose lines are all read. Beyond that, the newest lines are a sample, and counting costs a fraction of reading.
 */
const maxMeasuredEntries = 5_000_000;
/**
 * Maximum number of rows that are compared, which takes the backend as long as counting them. Beyond that, repeated rows count repeatedly.
 */
const maxComparedEntries = 1_000_000;
/** Column with the number of stored rows of a piece's entries. */
const storedColumn = 'stored';
/** Maximum number of pieces to hold for joining. */
const maxOpenPieces = 100_000;

/** The rows to count. */
export interface PiecesRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  /** Length of the time cells by which streams are counted; by default a stream is one piece. */
  readonly cellNs?: bigint | undefined;
  /** Labels that are columns of rows instead of streams. */
  readonly columns?: readonly (readonly [label: string, field: string])[];
}

export type PiecesContext = Pick<
  EngineContext,
  'upstream' | 'reader' | 'naming' | 'memories' | 'repeatedRows' | 'memory' | 'signal'
>;

/** The size of the selected streams in Loki's measure: that of the chunks that would hold them (otel-README, rule 10). */
export class StreamPieces {
  readonly #request: PiecesRequest;
  readonly #context: PiecesContext;
  rows = 0;

  constructor(request: PiecesRequest, context: PiecesContext) {
    this.#request = request;
    this.#context = context;
  }

  /** Reads the pieces of each stream, joining those of backend streams that are one Loki stream. */
  async *read(): AsyncGenerator<readonly [labels: LabelSet, piece: VolumePiece]> {
    const { filter, range } = this.#request;
    const { upstream, memories } = this.#context;
    const looked = wholeSegments(range);
    // One permit for all reads: a second volume could otherwise hold the permit that another read of this one waits for.
    const leave = upstream.hold?.(looked);
    // Started before it is known how many entries there are and whether they repeat, and restarted if that matters.
    let counted = mayRepeat(filter, this.#context) ? [] : [this.#begin({ filter }, true)];
    const end = (): void => {
      for (const part of counted) part.end();
    };
    const beginAnew = (parts: readonly RowPart[], isMeasured: boolean): void => {
      end();
      counted = parts.map((part) => this.#begin(part, isMeasured));
    };
    try {
      const listed = await upstream.list({ listing: 'streams', query: query(filter), range: looked });
      const rows = rowsOfStreams(listed);
      if (rows === 0) return;
      const isMeasured = rows <= maxMeasuredEntries;
      if (!isMeasured) beginAnew([{ filter }], false);
      const listing = { range: looked, listed };
      const sampled = { ...listing, hasLines: !isMeasured };
      const [costs, once] = await Promise.all([
        readMetadataCosts(filter, range, sampled, this.#context, memories),
        rows <= maxComparedEntries ? rowsOnce(filter, range, listing, this.#context) : everyRow(filter),
      ]);
      if (counted.length !== once.parts.length) beginAnew(once.parts, isMeasured);
      yield* this.#joined(counted, isMeasured, costs, once);
    } finally {
      end();
      leave?.();
    }
  }

  /** Starts a count by backend stream, and by time cell if there is more than one bucket. */
  #begin(part: RowPart, isMeasured: boolean): Begun<readonly BackendRow[]> {
    const { range } = this.#request;
    return beginRows(this.#context.upstream, { query: this.#counting(part, isMeasured), range });
  }

  #counting(part: RowPart, isMeasured = true): LogsqlQuery {
    const { cellNs } = this.#request;
    const columns = ['_stream', ...this.#fields()];
    const distinct =
      part.distinctBy === undefined ? [] : [distinctRows([...part.distinctBy, '_msg', ...columns])];
    const sums = [
      statsFunction('sum_len', ['_msg'], 'lines'),
      statsFunction('min', ['_time'], 'first'),
      statsFunction('max', ['_time'], 'last'),
      ...distinct.map(({ copies }) => statsFunction('sum', [copies], storedColumn)),
    ];
    return query(part.filter, [
      ...distinct.map(({ pipe }) => pipe),
      stats(
        cellNs === undefined ? columns : [...columns, timeBucket(cellNs)],
        statsFunction('count', [], 'entries'),
        ...(isMeasured ? sums : []),
      ),
    ]);
  }

  /**
   * The pieces of rows without a line. As a filter, this condition makes the backend read no lines; as a condition of the other sums it
   * would.
   */
  async *#rebuilt(parts: readonly RowPart[]): AsyncGenerator<readonly BackendRow[]> {
    const { range } = this.#request;
    const { upstream, naming } = this.#context;
    for (const part of parts) {
      const filter = and(part.filter, missingLineRows(naming));
      yield* upstream.rows({ query: this.#counting({ ...part, filter }), range });
    }
  }

  async *#joined(
    counted: readonly AsyncIterable<readonly BackendRow[]>[],
    isMeasured: boolean,
    costs: MetadataCosts,
    { parts, surplus, together, mayMissLines }: RowsOnce,
  ): AsyncGenerator<readonly [LabelSet, VolumePiece]> {
    const { reader } = this.#context;
    const { cellNs, columns = [] } = this.#request;
    const pieces = new VolumePieces();
    const labelsOf = (row: BackendRow): LabelSet => {
      const { labels } = reader.stream(row._stream ?? '{}');
      return columns.length === 0 ? labels : labels.with(valuesOf(row, columns));
    };
    const add = (row: BackendRow, kind: 'counted' | 'without a line'): void => {
      const stream = reader.stream(row._stream ?? '{}');
      const labels = labelsOf(row);
      const { entry, metadata, texts, rebuilt, shared } = costs.of(row._stream ?? '{}', stream);
      const number = (name: string): number | undefined => {
        const value = columnOf(row, name);
        return value === undefined ? undefined : Number(value);
      };
      const { firstNs, lastNs } = this.#timesOf(row, isMeasured);
      const entries = number('entries') ?? 0;
      const stored = number(storedColumn) ?? entries;
      const measured = (number('lines') ?? 0) + entries * metadata + (stored - entries) * texts;
      const isCounted = kind === 'counted';
      if (isCounted) this.rows += stored;
      pieces.add(labels, cellNs === undefined ? 0n : firstNs / cellNs, {
        firstNs,
        lastNs,
        // Rows without a line were already counted among all rows, with their placeholder.
        entries: isCounted ? entries : 0,
        bytes: !isMeasured ? entries * entry : isCounted ? measured : entries * rebuilt - measured,
        sharedBytes: shared,
      });
    };
    const subtract = (row: BackendRow): void => {
      const { stream, line, isRebuilt, timestampNs } = reader.read(row);
      const text = row._stream ?? '{}';
      const { metadata, texts, rebuilt, shared } = costs.of(text, stream);
      const stored = Buffer.byteLength(line) + metadata - (together.has(text) ? 0 : texts);
      pieces.add(labelsOf(row), cellNs === undefined ? 0n : timestampNs / cellNs, {
        firstNs: timestampNs,
        lastNs: timestampNs,
        entries: -1,
        bytes: -(isRebuilt ? rebuilt : stored),
        sharedBytes: shared,
      });
    };
    for (const row of surplus) subtract(row);
    if (isMeasured && mayMissLines)
      for await (const batch of this.#rebuilt(parts)) for (const row of batch) add(row, 'without a line');
    for (const part of counted)
      for await (const batch of part) {
        for (const row of batch) add(row, 'counted');
        // Beyond this, small pieces are not joined, which only costs accuracy.
        if (pieces.size > maxOpenPieces) yield* pieces.drain();
      }
    yield* pieces.drain();
  }

  #fields(): readonly string[] {
    return (this.#request.columns ?? []).map(([, field]) => field);
  }

  /** The times of the first and last entry of a piece; if they are not requested, the bounds of its cell within the range. */
  #timesOf(row: BackendRow, isMeasured: boolean): Pick<VolumePiece, 'firstNs' | 'lastNs'> {
    const { range, cellNs } = this.#request;
    if (isMeasured)
      return {
        firstNs: parseRowTime(columnOf(row, 'first') ?? ''),
        lastNs: parseRowTime(columnOf(row, 'last') ?? ''),
      };
    if (cellNs === undefined) return { firstNs: range.startNs, lastNs: range.endNs - 1n };
    const startNs = parseRowTime(row._time ?? '');
    const endNs = startNs + cellNs;
    return {
      firstNs: startNs > range.startNs ? startNs : range.startNs,
      lastNs: (endNs < range.endNs ? endNs : range.endNs) - 1n,
    };
  }
}

/** Keeps one row per entry, with the number of its rows in a column. */
function distinctRows(columns: readonly string[]): { readonly pipe: LogsqlPipe; readonly copies: string } {
  const by = [...new Set(columns)];
  let copies = 'hits';
  // The backend picks a column name that is not used yet.
  while (by.includes(copies)) copies += 's';
  return { pipe: { kind: 'uniq', by, hits: true }, copies };
}

/** The labels of a row; the first column of a label that has a value is used. */
function valuesOf(row: BackendRow, columns: NonNullable<PiecesRequest['columns']>): Iterable<Label> {
  const values = new Map<string, string>();
  for (const [label, field] of columns) {
    const value = columnOf(row, field) ?? '';
    if (value !== '' && !values.has(label)) values.set(label, value);
  }
  return values;
}

/** Rows to count such that entries that were pushed more than once count once. */
interface RowsOnce {
  /** Parts of the rows; each row is in one of them. */
  readonly parts: readonly RowPart[];
  /** Rows of the parts that repeat another one. */
  readonly surplus: readonly BackendRow[];
  /** `_stream` texts of streams that may share entries with another stream, so that both have the texts of such an entry. */
  readonly together: ReadonlySet<string>;
  /** True if rows may have no stored line. */
  readonly mayMissLines: boolean;
}

/** Counts every row of a filter. */
function everyRow(filter: LogsqlFilter): RowsOnce {
  return { parts: [{ filter }], surplus: [], together: new Set(), mayMissLines: true };
}

/** True if the last profile of the selection has too many repeated rows to subtract them, so that the backend counts distinct rows. */
function mayRepeat(filter: LogsqlFilter, context: PiecesContext): boolean {
  return context.memories.profiler.lastKnown(asked(filter, context)).dense.length > 0;
}

function asked(filter: LogsqlFilter, context: PiecesContext): ProfileRequest {
  return { ...context, selection: filter, columns: [] };
}

/** @param listing of the whole segments around the range */
async function rowsOnce(
  filter: LogsqlFilter,
  range: TimeRange,
  listing: ListedRange,
  context: PiecesContext,
): Promise<RowsOnce> {
  const { reader, memories, signal } = context;
  const profile = await memories.profiler.of(asked(filter, context), range, listing);
  const mayMissLines = profile.missing > 0;
  const streams = await atPace(readStreams(listing.listed, reader), new Pacer(signal));
  const together = await streamsWithSameEntries(streams);
  const looked = { ...context, filter, range, streams, profile };
  const surplus = await duplicateRows({ ...looked, leavesDense: true });
  if (!isDeclined(surplus))
    return { parts: rowPartsOf(filter, denseRows(profile, reader)), surplus, together, mayMissLines };
  const stored = await storedRows(filter, profile.streamsWithSharedTimes, range, context);
  return { parts: rowPartsOf(filter, stored), surplus: [], together, mayMissLines };
}

/** The rows of streams with too many repeats to compare them as entries. Rows are then the same entry if all stored fields are equal. */
async function storedRows(
  filter: LogsqlFilter,
  streams: ReadonlySet<string>,
  range: TimeRange,
  { upstream, reader }: PiecesContext,
): Promise<DenseRows | undefined> {
  if (streams.size === 0) return undefined;
  const own = streamsFilter(streams, reader);
  const names = await upstream.list({ listing: 'field_names', query: query(and(filter, own)), range });
  const fields = names.map(({ value }) => value).filter((name) => !isOwnColumn(name));
  const distinctBy = ['_time', '_stream', '_msg', ...fields];
  return { filter: own, parts: [{ filter: own, distinctBy }] };
}
