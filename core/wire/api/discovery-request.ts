import type { Query, Selector } from './query.js';
import type { TimeRange } from '../../base/time/range.js';

interface Ranged {
  readonly range: TimeRange;
}

/** How volumes are summed: by label set, or by label name. */
export type VolumeAggregation = 'series' | 'labels';

interface Volume extends Ranged {
  /** May be `{}`, which is every stream. */
  readonly query: Selector;
  /** Entries of the answer, the biggest first. */
  readonly limit: number;
  /** Labels to sum by; none means those that the selector names. */
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
  /** Lines to look at, the newest first. */
  readonly lineLimit: number;
  /** Fields, or values, of the answer. */
  readonly limit: number;
}
export interface DetectedFieldsRequest extends Scan {
  readonly op: 'detected_fields';
}
export interface DetectedFieldValuesRequest extends Scan {
  readonly op: 'detected_field_values';
  readonly name: string;
}

/** How much the search for patterns may read, and what it begins with. */
export interface PatternSearch {
  readonly maxRows: number;
  readonly secondPassMaxRows: number;
  readonly secondPassMaxWindows: number;
  /** Patterns that every answer begins with. */
  readonly custom: readonly string[];
}
export interface PatternsRequest extends Ranged {
  readonly op: 'patterns';
  readonly query: Selector;
  readonly stepNs: bigint;
  /** Patterns of the answer. */
  readonly limit: number;
  readonly search: PatternSearch;
}

/** What clients ask to learn what there is: volumes, fields, labels, patterns (docs/protocol/requests.md#read-api). */
export type DiscoveryRequest =
  | VolumeRequest
  | VolumeRangeRequest
  | IndexShardsRequest
  | DetectedLabelsRequest
  | DetectedFieldsRequest
  | DetectedFieldValuesRequest
  | PatternsRequest;
