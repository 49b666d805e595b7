import type { MemoryAccount } from '../../base/memory/account.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import { digestOfColumns } from '../../victoria/names/entry-identity.js';
import { type LogRow, parseRowTime, pipelineEntry, type RowReader } from '../../victoria/names/row-reader.js';
import type { FieldRef } from '../../victoria/logsql/ast.js';
import { columnOf, type BackendRow } from '../../victoria/upstream/types.js';
import type { MetricCounts } from './cost.js';
import { Repeats } from './repeats.js';
import { streamOf, type RowGrouping } from './count/grouping.js';

/** Rows that repeat another one, identified by the columns that are read. Plain data. */
export interface Surplus {
  /** Their times as floating-point numbers. Different times may become equal, which only costs a comparison. */
  readonly times: ReadonlySet<number>;
  /** Number of surplus rows by the digest of their columns. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Where rows may repeat another row. With `anywhere`, rows are compared, which takes all their columns; known surplus rows are left out.
 */
export type RepeatPlaces = 'anywhere' | 'nowhere' | Surplus;

/** The repeats among rows that are read with these columns; undefined columns mean all. */
export function placesOf(
  rows: readonly BackendRow[],
  columns: readonly FieldRef[] | undefined,
): RepeatPlaces {
  if (rows.length === 0) return 'nowhere';
  const counts = new Map<string, number>();
  for (const row of rows) {
    const digest = digestOfColumns(columns === undefined ? row : withColumns(row, columns));
    counts.set(digest, (counts.get(digest) ?? 0) + 1);
  }
  return { times: new Set(rows.map((row) => Number(parseRowTime(row._time ?? '')))), counts };
}

function withColumns(row: BackendRow, columns: readonly FieldRef[]): BackendRow {
  const isRead = (name: string): boolean =>
    columns.some((one) => (one.kind === 'name' ? one.name === name : name.startsWith(one.prefix)));
  const names = Object.keys(row).filter((name) => isRead(name));
  return Object.fromEntries(names.map((name) => [name, columnOf(row, name) ?? '']));
}

export interface IntakeOptions {
  readonly reader: RowReader;
  readonly counts: Pick<MetricCounts, 'row'>;
  readonly memory: MemoryAccount;
  readonly repeats: RepeatPlaces;
  /** Identifies the streams of rows that are read without `_stream`. */
  readonly streams?: RowStreams | undefined;
}

/** Makes entries from the backend's rows, one per entry. */
export class RowIntake {
  readonly #options: IntakeOptions;
  readonly #rewrite: (row: BackendRow) => BackendRow;
  readonly #repeats: Repeats;
  /** Surplus rows that have not been received yet. */
  readonly #missing: Map<string, number>;

  constructor(options: IntakeOptions) {
    const { streams, memory, repeats } = options;
    this.#options = options;
    this.#rewrite = streams === undefined ? asItIs : withStream(streams);
    this.#repeats = new Repeats(memory);
    this.#missing = new Map(typeof repeats === 'string' ? [] : repeats.counts);
  }

  /** Starts a time segment that does not overlap the previous one. */
  next(): void {
    this.#repeats.clear();
  }

  take(batch: readonly BackendRow[]): readonly PipelineEntry[] {
    const { reader, counts } = this.#options;
    const entries: PipelineEntry[] = [];
    for (const each of batch) {
      const row = reader.read(this.#rewrite(each));
      counts.row(row);
      if (!this.#isRepeated(each, row)) entries.push(pipelineEntry(row));
    }
    return entries;
  }

  #isRepeated(stored: BackendRow, row: LogRow): boolean {
    const { repeats } = this.#options;
    if (repeats === 'nowhere') return false;
    if (repeats === 'anywhere') return this.#repeats.isRepeated(row);
    if (!repeats.times.has(Number(row.timestampNs))) return false;
    const digest = digestOfColumns(stored);
    const left = this.#missing.get(digest) ?? 0;
    if (left > 0) this.#missing.set(digest, left - 1);
    return left > 0;
  }
}

const asItIs = (row: BackendRow): BackendRow => row;

const maxKnown = 20_000;

/** A row belongs to a stream that is newer than the listing of its selection. */
export class UnknownStreamError extends Error {
  override readonly name = 'UnknownStreamError';
}

/** Identifies the streams of rows by some columns. Plain data. */
export interface RowStreams extends Pick<RowGrouping, 'columns' | 'streamKeyColumns' | 'texts'> {
  /** The columns to keep besides time and line. */
  readonly fields: readonly string[];
}

/**
 * Adds the stream that a row's columns identify. All rows have the same keys in the same order, which V8 reads fastest. The function throws
 * UnknownStreamError.
 */
export function withStream(streams: RowStreams): (row: BackendRow) => BackendRow {
  const known = new Map<string, string>();
  const { streamKeyColumns, columns, fields } = streams;
  const [first, ...others] = columns.filter((name) => name === '_stream' || streamKeyColumns.includes(name));
  const keyOf = (row: BackendRow): string => {
    if (first === undefined) return '';
    return others.length === 0
      ? (columnOf(row, first) ?? '')
      : JSON.stringify([columnOf(row, first), ...others.map((name) => columnOf(row, name))]);
  };
  return (row) => {
    const key = keyOf(row);
    let stream = known.get(key);
    if (stream === undefined) {
      stream = streamOf(streams, (name) => columnOf(row, name));
      if (stream === undefined) throw new UnknownStreamError('a stream that was not listed');
      if (known.size >= maxKnown) known.clear();
      known.set(key, stream);
    }
    const made: Record<string, string> = {
      _time: row._time ?? '',
      _stream: stream,
      _msg: row._msg ?? '',
    };
    for (const name of fields) made[name] = columnOf(row, name) ?? '';
    return made;
  };
}
