import type { DiscoveryAnswer } from './discovery-types.js';
import type { Tenant } from '../../base/caller.js';
import type { Heat } from './rank.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { LiveAnswer } from './live.js';

import type { Point, SampleResult, SeriesResult } from '../../logql/metric/types.js';
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
  /** Of each value, where an index ranked them, so that what several tenants have can be ranked together. */
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
/** The answers to gathered questions, for the stage that gathered them; undefined for one that has to be asked by itself. */
export interface SeveralAnswer {
  readonly kind: 'several';
  readonly answers: readonly (MatrixAnswer | undefined)[];
}
/** Bytes that are sent to the client unchanged; the HTTP edge or tier0 made them from another answer. */
export interface EncodedAnswer {
  readonly kind: 'encoded';
  readonly status: number;
  readonly contentType: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Why a plugin refuses the request in a body of its own form; for the log. */
  readonly refusal?: Error;
  /** Given by a cache that keeps the gzip form of the body beside it. */
  readonly gzip?: GzipForm;
}
/** The gzip form of a body, kept where the body is kept. */
export interface GzipForm {
  /** The kept form, once it has been made. */
  readonly kept: Buffer | undefined;
  /** The gzip form of this body: the kept one, or else what `compress` makes of it. */
  of(body: Buffer, compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer>;
}

/**
 * The answer of the chain: plain data, to be treated as frozen (answers from a cache are shared, so copy before changing). Every kind has
 * one encoder (core/wire/answer/encode) and, except `encoded`, one merger (core/wire/answer/merge).
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
