import type { SeriesResult } from '../../logql/metric/points.js';
import type { AnswerStats, Warned } from './parts.js';

/** Bytes of logs by label set or label name; one point per series at an instant, one per bucket over a range. */
export interface VolumeAnswer extends Warned {
  readonly kind: 'volume';
  /** In the order of the answer, biggest first. */
  readonly series: readonly SeriesResult[];
  readonly stats: AnswerStats;
}

export type FieldType = 'string' | 'int' | 'float' | 'boolean' | 'duration' | 'bytes';
export type FieldParser = 'json' | 'logfmt';

/** A field that lines or their metadata have. */
export interface DetectedField {
  readonly label: string;
  readonly type: FieldType;
  /** The parsers that find it in a line; none for structured metadata. */
  readonly parsers: readonly FieldParser[];
  /** The keys on the way to it in a JSON line. */
  readonly jsonPath: readonly string[] | undefined;
  /** The values seen, each once: their number is the cardinality, also after a merge. */
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
  /** Each once. */
  readonly values: readonly string[];
}
export interface DetectedLabelsAnswer extends Warned {
  readonly kind: 'detected-labels';
  readonly labels: readonly DetectedLabel[];
}

/** How many lines had a pattern, by bucket of time. */
export interface PatternResult {
  readonly pattern: string;
  /** Missing for a pattern of the operator, which lines of any level may have. */
  readonly level: string | undefined;
  /** Start of the bucket in seconds, and lines; ascending. */
  readonly samples: readonly (readonly [seconds: number, count: number])[];
}
export interface PatternsAnswer extends Warned {
  readonly kind: 'patterns';
  /** Those of the operator first, then by the number of lines. */
  readonly patterns: readonly PatternResult[];
}

/** A part of the fingerprints of streams, both bounds included, with an estimate of what is in it. */
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
