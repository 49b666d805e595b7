import type { LabelSet } from '../../base/label-set.js';
import type { Grouping } from '../ast.js';

/** A stored log entry, the input of a pipeline. */
export interface PipelineEntry {
  /** Index labels. */
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  readonly timestampNs: bigint;
  readonly line: string;
}

/** The output of the stages of a log query; the three groups of labels are separate for categorized answers. */
export interface PipelineLine {
  readonly line: string;
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  /** Labels made by stages, including `__error__` and `__error_details__`. */
  readonly parsed: LabelSet;
  /** Characters that templates have created from labels and the line, in memory owned by this result alone. */
  readonly formatted: number;
}

/** The compiled stages of a log query; undefined for a line that they drop. One line at a time: calls share their working memory. */
export type Pipeline = (entry: PipelineEntry) => PipelineLine | undefined;

/** The sample that a range aggregation extracts from an entry. */
export interface ExtractedSample {
  readonly value: number;
  /** The series: grouped, unless the line has an error. */
  readonly labels: LabelSet;
  /** The `__error__` that fails the whole query (`pipeline error: '...' for series: ...`). */
  readonly error: string | undefined;
}

/** The compiled stages of a range aggregation with its unwrap and grouping; undefined for an entry without a sample. */
export type SampleExtractor = (entry: PipelineEntry) => ExtractedSample | undefined;

/** True when a line matches. */
export type LineTest = (line: string) => boolean;

export const errorLabel = '__error__';
export const errorDetailsLabel = '__error_details__';
export const preserveErrorLabel = '__preserve_error__';
/** Labels that decide whether an entry fails a metric query, so they are read whatever the query names. */
export const decidingErrorLabels: readonly string[] = [errorLabel, preserveErrorLabel];

/** Suffix of a parsed or stored label whose name is already in use. */
export const clashSuffix = '_extracted';

/** The grouping of an aggregation around a range aggregation, if it may already be applied to samples. */
export interface SampleGroups extends Pick<Grouping, 'without' | 'labels'> {
  /** True if Loki does not know the grouping while it reads lines: its parsers then extract all labels, and find every error. */
  readonly isMerged?: boolean;
}
