import type { Query, Selector } from './query.js';
import type { TimeRange } from '../../base/time/range.js';

interface Ranged {
  readonly range: TimeRange;
}

/** Volumes are summed by label set or by label name. */
export type VolumeAggregation = 'series' | 'labels';

interface Volume extends Ranged {
  /** May be `{}`, which selects every stream. */
  readonly query: Selector;
  /** Maximum number of entries in the answer, largest first. */
  readonly limit: number;
  /** Labels to sum by; empty for the labels that the selector names. */
  readonly targetLabels: readonly string[];
  readonly aggregateBy: VolumeAggregation;
}
export interface VolumeRequest extends Volume {
  readonly op: 'volume';
}
export interface VolumeRangeRequest extends Volume {
  readonly op: 'volume_range';
  readonly stepNs: bigint;
}
export interface IndexShardsRequest extends Ranged {
  readonly op: 'index_shards';
  readonly query: Query;
  readonly targetBytesPerShard: number;
}
export interface DetectedLabelsRequest extends Ranged {
  readonly op: 'detected_labels';
  readonly query?: Selector;
}

interface Scan extends Ranged {
  readonly query: Query;
  /** Maximum number of lines to read, newest first. */
  readonly lineLimit: number;
  /** Maximum number of fields or values in the answer. */
  readonly limit: number;
}
export interface DetectedFieldsRequest extends Scan {
  readonly op: 'detected_fields';
}
export interface DetectedFieldValuesRequest extends Scan {
  readonly op: 'detected_field_values';
  readonly name: string;
}

/** The maximum cost of a pattern search, and its configured patterns. */
export interface PatternSearch {
  readonly maxRows: number;
  readonly secondPassMaxRows: number;
  readonly secondPassMaxWindows: number;
  /** Configured patterns, which come first in every answer. */
  readonly custom: readonly string[];
}
export interface PatternsRequest extends Ranged {
  readonly op: 'patterns';
  readonly query: Selector;
  readonly stepNs: bigint;
  /** Maximum number of patterns in the answer. */
  readonly limit: number;
  readonly search: PatternSearch;
}

/** Requests by which clients explore the data: volumes, fields, labels, patterns (docs/protocol/requests.md#read-api). */
export type DiscoveryRequest =
  | VolumeRequest
  | VolumeRangeRequest
  | IndexShardsRequest
  | DetectedLabelsRequest
  | DetectedFieldsRequest
  | DetectedFieldValuesRequest
  | PatternsRequest;
