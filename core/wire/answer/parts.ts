import type { LabelSet } from '../../base/label-set.js';

/** One log entry of an answer. A missing label group is an empty set. */
export interface Entry {
  /** Nanoseconds since the epoch. */
  readonly timestampNs: bigint;
  readonly line: string;
  readonly structuredMetadata: LabelSet;
  readonly parsed: LabelSet;
}

/** A stream of a log answer: its index labels, and its entries in the request's direction. */
export interface StreamResult {
  readonly labels: LabelSet;
  readonly entries: readonly Entry[];
}

/** The cost of an answer, for `data.stats` (docs/protocol/answers.md#envelope). Times in milliseconds. */
export interface AnswerStats {
  readonly linesProcessed: number;
  readonly bytesProcessed: number;
  readonly entriesReturned: number;
  readonly postFilterLines: number;
  readonly structuredMetadataBytes: number;
  readonly execTimeMs: number;
  readonly splits: number;
}

/** Warnings shown next to a result (top-level `warnings`). */
export interface Warned {
  readonly warnings: readonly string[];
  /** Set for an answer that relies on assumptions: a later one may differ although no row was added or deleted. */
  readonly isProvisional?: true;
}
