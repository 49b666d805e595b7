import type { AnswerStats } from '../../../wire/answer/types.js';
import type { LogRow } from '../../../victoria/names/row-reader.js';

/**
 * Counts what the answer to a metric query cost. Bytes are those of lines that were read here, or whose length the backend was
 * asked for: a count of rows reads no lines, so that none are its bytes.
 */
export class MetricCounts {
  #scanned = 0;
  #passed = 0;
  #bytes = 0;
  #metadataBytes = 0;

  /** A row that was read. */
  row({ line, structuredMetadata }: LogRow): void {
    this.#scanned += 1;
    this.#passed += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }

  /** Rows of the streams that the backend's statistics are about, before any filter on lines, as it lists them. */
  scanned(streams: readonly { readonly hits: number }[]): void {
    for (const { hits } of streams) this.#scanned += hits;
  }

  /** Rows that the backend counted without sending them, or their bytes; it was told before of what they were found among. */
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
