import type { SeriesResult } from '../../logql/metric/work.js';
import type { AnswerStats, Warned } from './parts.js';

/** Bytes of logs by label set or label name: one point per series at an instant, one per bucket over a range. */
export interface VolumeAnswer extends Warned {
  readonly kind: 'volume';
  /** Largest first. */
  readonly series: readonly SeriesResult[];
  readonly stats: AnswerStats;
}

export type FieldType = 'string' | 'int' | 'float' | 'boolean' | 'duration' | 'bytes';
export type FieldParser = 'json' | 'logfmt';

/** A field found in lines or in their metadata. */
export interface DetectedField {
  readonly label: string;
  readonly type: FieldType;
  /** The parsers that find it in a line; none for structured metadata. */
  readonly parsers: readonly FieldParser[];
  /** The path of keys to the field in a JSON line. */
  readonly jsonPath: readonly string[] | undefined;
  /** The distinct values seen. Their number is the cardinality, including after a merge. */
  readonly values: readonly string[];
}
export interface DetectedFieldsAnswer extends Warned {
  readonly kind: 'detected-fields';
  readonly fields: readonly DetectedField[];
  readonly limit: number;
}
export interface DetectedFieldValuesAnswer extends Warned {
  readonly kind: 'detected-field-values';
  readonly values: readonly string[];
  readonly limit: number;
}

export interface DetectedLabel {
  readonly label: string;
  /** Distinct values. */
  readonly values: readonly string[];
}
export interface DetectedLabelsAnswer extends Warned {
  readonly kind: 'detected-labels';
  readonly labels: readonly DetectedLabel[];
}

/** The number of lines that matched a pattern, by time bucket. */
export interface PatternResult {
  readonly pattern: string;
  /** Undefined for a pattern configured by the operator, which matches lines of any level. */
  readonly level: string | undefined;
  /** Start of the bucket in seconds and number of lines, ascending. */
  readonly samples: readonly (readonly [seconds: number, count: number])[];
}
export interface PatternsAnswer extends Warned {
  readonly kind: 'patterns';
  /** Configured patterns first, then the others by number of lines. */
  readonly patterns: readonly PatternResult[];
}

/** A range of stream fingerprints, both bounds included, with an estimate of its contents. */
export interface ShardResult {
  readonly min: bigint;
  readonly max: bigint;
  readonly streams: number;
  readonly chunks: number;
  readonly bytes: number;
  readonly entries: number;
}
export interface ShardsAnswer extends Warned {
  readonly kind: 'shards';
  readonly shards: readonly ShardResult[];
}

export type DiscoveryAnswer =
  | VolumeAnswer
  | DetectedFieldsAnswer
  | DetectedFieldValuesAnswer
  | DetectedLabelsAnswer
  | PatternsAnswer
  | ShardsAnswer;
