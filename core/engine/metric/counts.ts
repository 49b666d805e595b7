import type { LogRow } from '../../victoria/names/row-reader.js';
import type { AnswerStats } from '../../wire/answer/types.js';

/** Number of rows that were read, bytes of their lines, and bytes of their structured metadata. */
export interface RowsRead {
  readonly rows: number;
  readonly bytes: number;
  readonly metadataBytes: number;
}

/**
 * Counts the cost of the answer to a metric query. Bytes are those of lines that were read here, or whose length the backend reported; a
 * count of rows reads no lines and adds no bytes.
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

  /** Adds rows that were read by a thread. */
  read({ rows, bytes, metadataBytes }: RowsRead): void {
    this.#scanned += rows;
    this.#passed += rows;
    this.#bytes += bytes;
    this.#metadataBytes += metadataBytes;
  }

  /** Returns the number of rows read so far, and resets it. */
  takeRead(): RowsRead {
    const taken = { rows: this.#scanned, bytes: this.#bytes, metadataBytes: this.#metadataBytes };
    [this.#scanned, this.#passed, this.#bytes, this.#metadataBytes] = [0, 0, 0, 0];
    return taken;
  }

  /** Adds the rows of the streams covered by the backend's statistics, before any line filter, as listed by the backend. */
  scanned(streams: readonly { readonly hits: number }[]): void {
    for (const { hits } of streams) this.#scanned += hits;
  }

  /** Adds rows, or their bytes, that the backend counted without sending them. `scanned` has already counted the rows they are among. */
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
