import type { Begun } from '../../base/pace/begun.js';
import type { Label, LabelSet } from '../../base/labels/label-set.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, StatsFunction } from '../../victoria/logsql/ast.js';
import { and, not, query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import { parseRowTime } from '../../victoria/names/row-time.js';
import { beginRows } from '../../victoria/upstream/begin-rows.js';
import { columnOf, type BackendRow, type BackendValue } from '../../victoria/upstream/types.js';
import type { EngineContext } from '../context.js';
import { rowsOfStreams } from '../metric/row-windows.js';
import { missingLineRows } from '../plan/missing-lines.js';
import { readMetadataCosts, type MetadataCosts } from './metadata-bytes.js';
import { noRepeats, repeatedRows, type RepeatedRows } from './repeated-rows.js';
import type { VolumePiece } from './volume-buckets.js';
import { VolumePieces } from './volume-pieces.js';

/** Beyond this number of entries, not all lines are read: counting costs a fraction of it, and the newest lines serve as a sample. */
const maxMeasuredEntries = 5_000_000;
/** The most pieces to hold for joining. */
const maxOpenPieces = 100_000;

/** Which rows to count. */
export interface PiecesRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  /** The length of time cells by which streams are counted; a stream is one piece unless given. */
  readonly cellNs?: bigint | undefined;
  /** Labels that are columns of rows, and not of streams. */
  readonly columns?: readonly (readonly [label: string, field: string])[];
  /** The most rows that are compared to find those that repeat another one. */
  readonly maxCompared: number;
}

export type PiecesContext = Pick<
  EngineContext,
  'upstream' | 'reader' | 'naming' | 'memories' | 'repeatedRows' | 'memory' | 'signal'
>;

/** What the backend has of the selected streams, in Loki's measure: what its chunks would hold (otel-README, rule 10). */
export class StreamPieces {
  readonly #request: PiecesRequest;
  readonly #context: PiecesContext;
  /** The rows of all streams. */
  rows = 0;

  constructor(request: PiecesRequest, context: PiecesContext) {
    this.#request = request;
    this.#context = context;
  }

  /** The pieces of each stream, those of backend streams that are one Loki stream joined. */
  async *read(): AsyncGenerator<readonly [labels: LabelSet, piece: VolumePiece]> {
    const { filter, range, maxCompared } = this.#request;
    const { upstream, memories, repeatedRows: rule } = this.#context;
    // One place for all reads: a second volume could hold the place that another read of this one waits for.
    const leave = await upstream.hold?.(range);
    // Begun before it is known how many entries there are, and begun anew where they are too many.
    let counted = this.#begin(true);
    try {
      const listed = await upstream.list({ listing: 'streams', query: query(filter), range });
      this.rows = rowsOfStreams(listed);
      if (this.rows === 0) return;
      const isMeasured = this.rows <= maxMeasuredEntries;
      if (!isMeasured) {
        counted.end();
        counted = this.#begin(false);
      }
      const asked = { listed, hasLines: !isMeasured };
      const [costs, repeated] = await Promise.all([
        readMetadataCosts(filter, range, asked, this.#context, memories.metadata),
        this.rows <= maxCompared && rule === 'once' ? this.#repeated(listed) : noRepeats,
      ]);
      yield* this.#joined(counted, isMeasured, costs, repeated);
    } finally {
      counted.end();
      leave?.();
    }
  }

  /** Counts by backend stream, and by time cell when there is more than one bucket; the backend begins at once. */
  #begin(isMeasured: boolean): Begun<readonly BackendRow[]> {
    const { filter, range } = this.#request;
    const asked = query(filter, [this.#counting(isMeasured)]);
    return beginRows(this.#context.upstream, { query: asked, range });
  }

  /** @param missing counts rows without a line apart, and not what stands in its place */
  #counting(isMeasured: boolean, missing?: LogsqlFilter): LogsqlPipe {
    const { cellNs } = this.#request;
    const columns = ['_stream', ...this.#fields()];
    const count = (result: string): StatsFunction => statsFunction('count', [], result);
    const length = statsFunction('sum_len', ['_msg'], 'lines');
    const lengths =
      missing === undefined
        ? [length]
        : [
            { ...length, condition: not(missing) },
            { ...count('rebuilt'), condition: missing },
          ];
    const times = [statsFunction('min', ['_time'], 'first'), statsFunction('max', ['_time'], 'last')];
    return stats(
      cellNs === undefined ? columns : [...columns, timeBucket(cellNs)],
      count('entries'),
      ...(isMeasured ? [...lengths, ...times] : []),
    );
  }

  /**
   * The pieces of rows without a line. As a filter this takes the backend no look at lines, as a condition of the other sums it would.
   */
  #rebuilt(): AsyncIterable<readonly BackendRow[]> {
    const { filter, range } = this.#request;
    const { upstream, naming } = this.#context;
    const ofThem = and(filter, missingLineRows(naming));
    return upstream.rows({ query: query(ofThem, [this.#counting(true)]), range });
  }

  /** Finds the rows by which entries that were pushed more than once are counted too often. */
  #repeated(listed: readonly BackendValue[]): Promise<RepeatedRows> {
    const { filter, range } = this.#request;
    const counting = this.#counting(true, missingLineRows(this.#context.naming));
    return repeatedRows({ ...this.#context, filter, range }, listed, this.#fields(), counting);
  }

  async *#joined(
    counted: AsyncIterable<readonly BackendRow[]>,
    isMeasured: boolean,
    costs: MetadataCosts,
    { within, surplus }: RepeatedRows,
  ): AsyncGenerator<readonly [LabelSet, VolumePiece]> {
    const { reader } = this.#context;
    const { cellNs, columns = [] } = this.#request;
    const pieces = new VolumePieces();
    const labelsOf = (row: BackendRow): LabelSet => {
      const { labels } = reader.stream(row._stream ?? '{}');
      return columns.length === 0 ? labels : labels.with(valuesOf(row, columns));
    };
    const add = (row: BackendRow, { isRebuilt = false, copies = 1 } = {}): void => {
      const text = row._stream ?? '{}';
      const stream = reader.stream(text);
      const labels = labelsOf(row);
      const { entry, metadata, rebuilt, shared } = costs.of(text, stream, copies);
      const number = (name: string): number => Number(columnOf(row, name) ?? 0);
      const { firstNs, lastNs } = this.#timesOf(row, isMeasured);
      // Rows without a line were counted among all rows, with what stands in its place.
      const entries = isRebuilt ? 0 : number('entries');
      const lines = isRebuilt ? -number('lines') : number('lines');
      const missing = number(isRebuilt ? 'entries' : 'rebuilt');
      pieces.add(labels, cellNs === undefined ? 0n : firstNs / cellNs, {
        firstNs,
        lastNs,
        entries,
        bytes: isMeasured ? lines + (entries - missing) * metadata + missing * rebuilt : entries * entry,
        sharedBytes: shared,
      });
    };
    const subtract = (row: BackendRow): void => {
      const { stream, line, isRebuilt, timestampNs } = reader.read(row);
      const { metadata, rebuilt, shared } = costs.of(row._stream ?? '{}', stream, 1);
      pieces.add(labelsOf(row), cellNs === undefined ? 0n : timestampNs / cellNs, {
        firstNs: timestampNs,
        lastNs: timestampNs,
        entries: -1,
        bytes: -(isRebuilt ? rebuilt : Buffer.byteLength(line) + metadata),
        sharedBytes: shared,
      });
    };
    for (const row of surplus) subtract(row);
    for (const { rows, copies } of within.values()) for (const row of rows) add(row, { copies });
    const isRepeated = (row: BackendRow): boolean => within.has(row._stream ?? '{}');
    if (isMeasured)
      for await (const batch of this.#rebuilt())
        for (const row of batch) if (!isRepeated(row)) add(row, { isRebuilt: true });
    for await (const batch of counted) {
      for (const row of batch) if (!isRepeated(row)) add(row);
      // Beyond this, small pieces are not joined, which only costs accuracy.
      if (pieces.size > maxOpenPieces) yield* pieces.drain();
    }
    yield* pieces.drain();
  }

  #fields(): readonly string[] {
    return (this.#request.columns ?? []).map(([, field]) => field);
  }

  /** The first and last entry of a piece; if these are not requested, the boundaries of its cell within the range. */
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

/** The first column of a label that has a value decides. */
function valuesOf(row: BackendRow, columns: NonNullable<PiecesRequest['columns']>): Iterable<Label> {
  const values = new Map<string, string>();
  for (const [label, field] of columns) {
    const value = columnOf(row, field) ?? '';
    if (value !== '' && !values.has(label)) values.set(label, value);
  }
  return values;
}
