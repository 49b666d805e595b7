import type { LogRow } from '../../victoria/names/row-reader.js';
import type { AnswerStats } from '../../wire/answer/types.js';

/** Rows that were read, their lines' bytes, and those of their structured metadata. */
export interface RowsRead {
  readonly rows: number;
  readonly bytes: number;
  readonly metadataBytes: number;
}

/**
 * Counts what the answer to a metric query cost. Bytes are those of lines read here, or whose length the backend was asked for; a count of
 * rows reads no lines and adds no bytes.
 */
export class MetricCounts {
  #scanned = 0;
  #passed = 0;
  #bytes = 0;
  #metadataBytes = 0;

  /** Counts a row that was read. */
  row({ line, structuredMetadata }: LogRow): void {
    this.#scanned += 1;
    this.#passed += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }

  /** Counts rows that were read elsewhere. */
  read({ rows, bytes, metadataBytes }: RowsRead): void {
    this.#scanned += rows;
    this.#passed += rows;
    this.#bytes += bytes;
    this.#metadataBytes += metadataBytes;
  }

  /** The rows that were read so far; counts them no more. */
  takeRead(): RowsRead {
    const taken = { rows: this.#scanned, bytes: this.#bytes, metadataBytes: this.#metadataBytes };
    [this.#scanned, this.#passed, this.#bytes, this.#metadataBytes] = [0, 0, 0, 0];
    return taken;
  }

  /** Counts the rows of the streams that the backend's statistics cover, before any line filter, as the backend lists them. */
  scanned(streams: readonly { readonly hits: number }[]): void {
    for (const { hits } of streams) this.#scanned += hits;
  }

  /**
   * Counts rows, or their bytes, that the backend counted without sending them; `scanned` has already been given the rows they were among.
   */
  counted(rows: number, bytes: number): void {
    this.#passed += rows;
    this.#bytes += bytes;
  }

  stats(execTimeMs: number, entriesReturned: number): AnswerStats {
    return {
      linesProcessed: this.#scanned,
      bytesProcessed: this.#bytes,
      entriesReturned,
      postFilterLines: this.#passed,
      structuredMetadataBytes: this.#metadataBytes,
      execTimeMs,
      splits: 1,
    };
  }
}
