import type { AnswerStats, Entry, StreamResult } from '../../core/answer/types.js';
import type { Direction } from '../../core/api/request.js';
import { exceeded, formatLimits } from '../../core/logql/template/exec/limits.js';
import { LabelSet } from '../../core/labels/label-set.js';
import type { Pipeline } from '../../core/logql/pipeline/compile.js';
import type { LogRow } from '../../core/names/row-reader.js';

export interface CollectorOptions {
  readonly limit: number;
  readonly direction: Direction;
  /** At most one entry per interval; 0 means all. */
  readonly intervalNs: bigint;
  /** For rows whose line no backend filter has seen. */
  readonly recheck: Pipeline;
  readonly residual: Pipeline;
  readonly showsGroups: boolean;
  /** Whether lines are made by `line_format`: there may be so many bytes of them in one answer. */
  readonly formatsLines?: boolean;
}

const hourNs = 3_600_000_000_000n;

interface OpenStream {
  readonly labels: LabelSet;
  readonly entries: Entry[];
}

/** Takes rows in the request's direction and keeps the entries of the answer, up to its limit. */
export class EntryCollector {
  readonly #options: CollectorOptions;
  readonly #streams = new Map<string, OpenStream>();
  /** Entries seen at the instant that is being read: rows that were pushed twice, or read twice, are one entry. */
  readonly #seen = new Set<string>();
  #firstOfInstant: LogRow | undefined;
  #lastKept: bigint | undefined;
  #kept = 0;
  #lines = 0;
  #bytes = 0;
  #metadataBytes = 0;
  #formattedBytes = 0;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** Adds a batch; true when the answer is full. */
  addAll(rows: readonly LogRow[]): boolean {
    for (const row of rows) {
      if (this.#kept >= this.#options.limit) return true;
      if (!this.#isRepeated(row)) this.#add(row);
    }
    return this.#kept >= this.#options.limit;
  }

  /** Entries that the answer may still take. */
  get missing(): number {
    return this.#options.limit - this.#kept;
  }

  /** The streams in the order of their first entry. */
  streams(): readonly StreamResult[] {
    return [...this.#streams.values()];
  }

  counts(): Pick<
    AnswerStats,
    'linesProcessed' | 'bytesProcessed' | 'entriesReturned' | 'postFilterLines' | 'structuredMetadataBytes'
  > {
    return {
      linesProcessed: this.#lines,
      bytesProcessed: this.#bytes,
      entriesReturned: this.#kept,
      postFilterLines: this.#kept,
      structuredMetadataBytes: this.#metadataBytes,
    };
  }

  #isRepeated(row: LogRow): boolean {
    const first = this.#firstOfInstant;
    if (first?.timestampNs !== row.timestampNs) {
      this.#firstOfInstant = row;
      if (this.#seen.size > 0) this.#seen.clear();
      return false;
    }
    // Most instants have one row, so texts are only made for the second.
    if (this.#seen.size === 0) this.#seen.add(identityOf(first));
    const identity = identityOf(row);
    if (this.#seen.has(identity)) return true;
    this.#seen.add(identity);
    return false;
  }

  #add(row: LogRow): void {
    const { timestampNs, stream, structuredMetadata } = row;
    this.#count(row);
    const read = { timestampNs, line: row.line, stream: stream.labels, structuredMetadata };
    if (row.isRebuilt && this.#options.recheck(read) === undefined) return;
    const line = this.#options.residual(read);
    if (line === undefined || !this.#isDue(timestampNs)) return;
    if (this.#options.formatsLines === true) this.#countFormatted(line.line);
    const { showsGroups } = this.#options;
    this.#streamOf(line.stream).entries.push({
      timestampNs,
      line: line.line,
      structuredMetadata: showsGroups ? line.structuredMetadata : LabelSet.empty,
      parsed: showsGroups ? line.parsed : LabelSet.empty,
    });
    this.#kept += 1;
  }

  /**
   * With an interval an entry is due when it lies an interval or more behind the one kept last, whatever its stream. The reference
   * reads each hour of the clock on its own, so the first entry of an hour is always due.
   */
  #isDue(timestampNs: bigint): boolean {
    const { intervalNs, direction } = this.#options;
    if (intervalNs === 0n) return true;
    const last = this.#lastKept;
    if (last !== undefined && last / hourNs === timestampNs / hourNs) {
      const distance = direction === 'forward' ? timestampNs - last : last - timestampNs;
      if (distance < intervalNs) return false;
    }
    this.#lastKept = timestampNs;
    return true;
  }

  /** @throws ApiError `lineFormatLimit` */
  #countFormatted(line: string): void {
    this.#formattedBytes += Buffer.byteLength(line);
    if (this.#formattedBytes > formatLimits.responseOutput) exceeded('output');
  }

  #streamOf(labels: LabelSet): OpenStream {
    let stream = this.#streams.get(labels.key);
    if (stream === undefined) this.#streams.set(labels.key, (stream = { labels, entries: [] }));
    return stream;
  }

  #count({ line, structuredMetadata }: LogRow): void {
    this.#lines += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }
}

function identityOf({ stream, line }: LogRow): string {
  return `${stream.labels.key}\n${line}`;
}
