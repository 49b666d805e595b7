import type { DiscoveryAnswer } from './discovery-types.js';
import type { Tenant } from '../../base/caller.js';
import type { Heat } from './rank.js';
import type { LabelSet } from '../../base/label-set.js';
import type { LiveAnswer } from './live.js';

import type { Point, SampleResult, SeriesResult } from '../../logql/metric/work.js';
import type { AnswerStats, StreamResult, Warned } from './parts.js';

export type * from './discovery-types.js';
export type * from './parts.js';

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
