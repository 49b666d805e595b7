import type { LabelSet } from '../../base/labels/label-set.js';

/** A stored log entry, as a pipeline takes it. */
export interface PipelineEntry {
  /** Index labels. */
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  readonly timestampNs: bigint;
  readonly line: string;
}

/** What comes out of the stages of a log query; the three groups of labels stay apart for categorized answers. */
export interface PipelineLine {
  readonly line: string;
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  /** Labels made by stages, `__error__` and `__error_details__` among them. */
  readonly parsed: LabelSet;
  /** Characters that templates have made of labels and the line, which are in the memory of nobody else. */
  readonly formatted: number;
}

/** The stages of a log query, ready to run; undefined for a line that they drop. One line at a time: calls share their work space. */
export type Pipeline = (entry: PipelineEntry) => PipelineLine | undefined;

/** What a range aggregation reads from an entry. */
export interface ExtractedSample {
  readonly value: number;
  /** The series: after a grouping, unless the line has an error. */
  readonly labels: LabelSet;
  /** The `__error__` that makes the whole query fail (`pipeline error: '...' for series: ...`). */
  readonly error: string | undefined;
}

/** The stages of a range aggregation with its unwrap and grouping; undefined for an entry that gives no sample. */
export type SampleExtractor = (entry: PipelineEntry) => ExtractedSample | undefined;

/** Tells whether a line passes. */
export type LineTest = (line: string) => boolean;

export const errorLabel = '__error__';
export const errorDetailsLabel = '__error_details__';
export const preserveErrorLabel = '__preserve_error__';

/** What a parsed or stored label is called whose name is taken already. */
export const clashSuffix = '_extracted';
