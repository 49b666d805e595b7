import type { LabelSet } from '../../base/labels/label-set.js';

/** One log entry of an answer. A label group that the entry lacks is an empty set. */
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

/** The cost of an answer; source of `data.stats` (docs/protocol/answers.md#envelope). Times in milliseconds. */
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
  /** Set for an answer that rests on assumptions: a later one may differ, although no row has come or gone. */
  readonly isProvisional?: true;
}
