import type { Tenant } from '../../base/caller.js';
import type { Heat } from './rank.js';
import type { LabelSet } from '../../base/label-set.js';
import type { Point, SampleResult, SeriesResult } from '../../logql/metric/work.js';

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

interface QueryAnswer extends Warned {
  readonly stats: AnswerStats;
}

export interface StreamsAnswer extends QueryAnswer {
  readonly kind: 'streams';
  readonly streams: readonly StreamResult[];
}
export interface MatrixAnswer extends QueryAnswer {
  readonly kind: 'matrix';
  readonly series: readonly SeriesResult[];
}
export interface VectorAnswer extends QueryAnswer {
  readonly kind: 'vector';
  readonly samples: readonly SampleResult[];
}
export interface ScalarAnswer extends QueryAnswer {
  readonly kind: 'scalar';
  readonly point: Point;
}
/** Distinct names or values (labels, label values): sorted, or ranked by an index. */
export interface NamesAnswer extends Warned {
  readonly kind: 'names';
  readonly values: readonly string[];
  /** The heat of each value, if an index ranked them, so that values of several tenants can be ranked together. */
  readonly heat?: readonly Heat[];
}
export interface SeriesAnswer extends Warned {
  readonly kind: 'series';
  readonly series: readonly LabelSet[];
}
export interface IndexStatsAnswer extends Warned, StreamTotals {
  readonly kind: 'index-stats';
}
export interface FormattedAnswer {
  readonly kind: 'formatted';
  readonly query: string;
}
/** The tenant of a request, for endpoints that make their own body. */
export interface TenantAnswer {
  readonly kind: 'tenant';
  readonly tenant: Tenant;
}
/** The answers to gathered requests, for the stage that gathered them; undefined for a request that must be sent separately. */
export interface SeveralAnswer {
  readonly kind: 'several';
  readonly answers: readonly (MatrixAnswer | undefined)[];
}
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

/** Totals of streams. */
export interface StreamTotals {
  readonly streams: number;
  readonly chunks: number;
  readonly bytes: number;
  readonly entries: number;
}

/** A range of stream fingerprints, both bounds included, with an estimate of its contents. */
export interface ShardResult extends StreamTotals {
  readonly min: bigint;
  readonly max: bigint;
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

/** One entry of a tail, with its stream after the residual stages. */
export interface LiveEntry {
  readonly labels: LabelSet;
  readonly entry: Entry;
}

export type LiveEvent =
  /** Lines in time order; `isEarly` if too many were waiting for older ones, so that some of these may still follow. */
  | { readonly kind: 'entries'; readonly entries: readonly LiveEntry[]; readonly isEarly: boolean }
  /** One poll for new lines failed; the next one catches up. */
  | { readonly kind: 'trouble'; readonly error: Error };

/** The answer to a tail: its history, and the lines that follow. It ends only when the exchange's signal aborts. */
export interface LiveAnswer {
  readonly kind: 'live';
  /** The newest entries up to the limit, oldest first. */
  readonly history: readonly LiveEntry[];
  /** Events are pulled, so a reader that stops also stops the backend. They can be read once, and reading must start immediately. */
  readonly events: AsyncIterable<LiveEvent>;
}

/** Bytes that are sent to the client unchanged, made from another answer by the HTTP edge or tier0. */
export interface EncodedAnswer {
  readonly kind: 'encoded';
  readonly status: number;
  readonly contentType: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The reason, for the log, why a plugin rejects the request with a body of its own. */
  readonly refusal?: Error;
  /** Set by a cache that stores the gzip form of the body beside it. */
  readonly gzip?: GzipForm;
}
/** The gzip form of a cached body. */
export interface GzipForm {
  /** The stored form, once it has been made. */
  readonly kept: Buffer | undefined;
  /** Returns the gzip form of this body: the stored one, or the result of `compress`. */
  of(body: Buffer, compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer>;
}

/**
 * The answer of the chain: plain data that must be treated as frozen (answers from a cache are shared, so copy before changing). Every kind
 * has one encoder (core/wire/answer/encode) and, except `encoded`, one merger (core/wire/answer/merge).
 */
export type Answer =
  | StreamsAnswer
  | MatrixAnswer
  | VectorAnswer
  | ScalarAnswer
  | NamesAnswer
  | SeriesAnswer
  | IndexStatsAnswer
  | FormattedAnswer
  | DiscoveryAnswer
  | LiveAnswer
  | TenantAnswer
  | SeveralAnswer
  | EncodedAnswer;

export type AnswerKind = Answer['kind'];
