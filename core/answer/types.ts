import type { DiscoveryAnswer } from './discovery-types.js';
import type { Tenant } from '../api/caller.js';
import type { LabelSet } from '../labels/label-set.js';
import type { LiveAnswer } from '../tail/types.js';

export type * from './discovery-types.js';

/** One log entry of an answer. The two groups are empty sets where the entry has none. */
export interface Entry {
  /** Nanoseconds since the epoch. */
  readonly timestampNs: bigint;
  readonly line: string;
  readonly structuredMetadata: LabelSet;
  readonly parsed: LabelSet;
}

/** A stream of a log answer: its index labels, and its entries in the order of the request's direction. */
export interface StreamResult {
  readonly labels: LabelSet;
  readonly entries: readonly Entry[];
}

/** One point of a series: milliseconds since the epoch, and the value. */
export interface Point {
  readonly timestampMs: number;
  readonly value: number;
}

export interface SeriesResult {
  readonly labels: LabelSet;
  readonly points: readonly Point[];
}

export interface SampleResult {
  readonly labels: LabelSet;
  readonly point: Point;
}

/** What an answer cost; feeds `data.stats` (spec-gaps: Full JSON envelope). Times in milliseconds. */
export interface AnswerStats {
  readonly linesProcessed: number;
  readonly bytesProcessed: number;
  readonly entriesReturned: number;
  readonly postFilterLines: number;
  readonly structuredMetadataBytes: number;
  readonly execTimeMs: number;
  readonly splits: number;
}

/** Notices shown beside a result (top-level `warnings`). */
interface Warned {
  readonly warnings: readonly string[];
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
/** A set of names or values (labels, label values), sorted, each once. */
export interface NamesAnswer extends Warned {
  readonly kind: 'names';
  readonly values: readonly string[];
}
export interface SeriesAnswer extends Warned {
  readonly kind: 'series';
  readonly series: readonly LabelSet[];
}
export interface IndexStatsAnswer extends Warned {
  readonly kind: 'index-stats';
  readonly streams: number;
  readonly chunks: number;
  readonly bytes: number;
  readonly entries: number;
}
export interface FormattedAnswer {
  readonly kind: 'formatted';
  readonly query: string;
}
/** Whose request it was; for endpoints, which make a body of their own. */
export interface TenantAnswer {
  readonly kind: 'tenant';
  readonly tenant: Tenant;
}
/** Bytes that go to the client as they are: what the edge or tier0 made of another answer. */
export interface EncodedAnswer {
  readonly kind: 'encoded';
  readonly status: number;
  readonly contentType: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/**
 * What the chain gives back: plain data, frozen in practice (answers from a cache are shared: copy before you change).
 * Every kind has one encoder (core/answer/encode) and, except `encoded`, one merger (core/answer/merge).
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
  | EncodedAnswer;

export type AnswerKind = Answer['kind'];
