import type { AnswerStats } from '../../core/answer/types.js';
import type { LogRow } from '../../core/names/row-reader.js';

/** Counts what the answer to a metric query cost. */
export class MetricCounts {
  #lines = 0;
  #bytes = 0;
  #metadataBytes = 0;

  /** A row that was read. */
  row({ line, structuredMetadata }: LogRow): void {
    this.#lines += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }

  /** Rows that the backend counted without sending them. */
  counted(rows: number, bytes: number): void {
    this.#lines += rows;
    this.#bytes += bytes;
  }

  stats(execTimeMs: number, entriesReturned: number): AnswerStats {
    return {
      linesProcessed: this.#lines,
      bytesProcessed: this.#bytes,
      entriesReturned,
      postFilterLines: this.#lines,
      structuredMetadataBytes: this.#metadataBytes,
      execTimeMs,
      splits: 1,
    };
  }
}
