import type { Clock } from '../../base/clock.js';
import type { StrategyRecord } from '../../base/trace.js';
import type { LineWorkers } from '../../logql/lines/line-workers.js';
import type { LeafRequest, MetricLimits, SeriesTable } from '../../logql/metric/index.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { AnswerStats } from '../../wire/answer/types.js';
import type { Backend } from '../backend.js';
import type { Memories } from '../memories.js';
import type { LeafPlan } from '../plan/types.js';
import type { LineSamples } from './count/shapes.js';
import type { Declined } from './declined.js';

/** What a metric request is answered with. */
export interface MetricContext extends Backend, Memories {
  readonly clock: Clock;
  readonly limits: MetricLimits;
  readonly signal: AbortSignal;
  /** Rows that one range aggregation may read (`-manual-range-metric-row-limit`); 0 is no bound. */
  readonly maxRows: number;
  readonly workers: Pick<LineWorkers, 'run'>;
  /** Whose data the upstream gives: what is remembered is remembered for them. */
  readonly owner: string;
  /** Told of each attempt to read a leaf. */
  readonly tried: (record: StrategyRecord) => void;
}

/** What the leaves of one request share. */
export interface LeafContext extends MetricContext {
  readonly counts: MetricCounts;
  readonly samples: LineSamples;
}

export type StrategyName = 'statistics' | 'short-lines' | 'rows' | 'whole-rows';

/** Reads a leaf, or says why it cannot. */
export type Attempt = (request: LeafRequest, context: LeafContext) => Promise<SeriesTable | Declined>;

/** One way to get the series of a leaf from the backend. All ways give the same series; the first that can is taken. */
export interface Strategy {
  readonly name: StrategyName;
  /** What it does, for docs. */
  readonly summary: string;
  /** What its error tells of an entry that cannot be evaluated. Loki's names the first such entry with all of its labels. */
  readonly tellsEntry: 'not' | 'in part' | 'wholly';
  /** Looks at the plan alone: how the leaf would be read, or why it cannot be read so whatever is stored. */
  readonly prepare: (leaf: LeafPlan) => Attempt | Declined;
}

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

  /** Rows that the backend counted without sending them, or their bytes; `scanned` was told of the rows they were found among. */
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
