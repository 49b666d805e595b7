import type { Tenant } from '../../base/caller.js';
import type { TimeRange } from '../../base/time/range.js';
import type { DeletionTaken } from '../../victoria/upstream/types.js';
import type { DiscoveryRequest } from './discovery-request.js';
import type { FollowRules } from './follow-rules.js';
import type { Query, Selector } from './query.js';

export type Direction = 'backward' | 'forward';

/** Browse extensions of label listings; only set when `-label-browse-extensions` allows them. */
export interface Browse {
  readonly limit?: number;
  readonly offset?: number;
  readonly search?: string;
}

interface Ranged {
  readonly range: TimeRange;
}

/** Set if the query is one part of a metric expression that is evaluated elsewhere: the limit on series does not apply. */
interface PartOfExpression {
  readonly isPart?: boolean;
}

export interface QueryRangeRequest extends Ranged, PartOfExpression {
  readonly op: 'query_range';
  readonly query: Query;
  readonly stepNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
  readonly intervalNs: bigint;
  /** Set for a part of a longer range that the caller caches, and for the count of its rows: neither is cached a second time. */
  readonly part?: 'window' | 'count';
}
export interface QueryRequest extends PartOfExpression {
  readonly op: 'query';
  readonly query: Query;
  readonly timeNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
}
/** Set if the client sent no time: the range is the default, and may be shortened to the tenant's limit. */
interface OpenRange extends Ranged {
  readonly isOpenRange?: boolean;
}
export interface LabelsRequest extends OpenRange {
  readonly op: 'labels';
  readonly query?: Selector;
  readonly browse: Browse;
}
export interface LabelValuesRequest extends OpenRange {
  readonly op: 'label_values';
  readonly name: string;
  readonly query?: Selector;
  readonly browse: Browse;
}
export interface SeriesRequest extends OpenRange {
  readonly op: 'series';
  /** A stream matches if any of them selects it; an empty list selects all streams. */
  readonly selectors: readonly Selector[];
}
export interface IndexStatsRequest extends Ranged {
  readonly op: 'index_stats';
  readonly query: Selector;
}
export interface FormatQueryRequest {
  readonly op: 'format_query';
  readonly query: Query;
}
/** Requests entries as they arrive, after the newest `limit` entries of the range (docs/protocol/requests.md#tail). */
export interface TailRequest extends Ranged {
  readonly op: 'tail';
  readonly query: Query;
  readonly limit: number;
  /** Age at which entries are shown. */
  readonly delayNs: bigint;
  readonly follow: FollowRules;
}

/** Requests the permanent deletion of rows; its route has safeguards (docs/protocol/requests.md#deletion). */
export interface DeleteRequest extends Ranged {
  readonly op: 'delete';
  readonly query: Query;
  /**
   * Called to send the deletion once it is certain that it will be sent, for a caller with work before and after it; by default it is just
   * sent.
   */
  readonly around?: (tenant: Tenant, send: () => Promise<DeletionTaken>) => Promise<DeletionTaken>;
}

/** Requests the ids of the deletions that the backend has not finished. */
export interface DeletionsRequest {
  readonly op: 'deletions';
}

/** Requests only the tenant: for routes that answer from another source, but only to callers that the chain would answer. */
export interface TenantRequest {
  readonly op: 'tenant';
}

/** A validated request of the read API, independent of HTTP (docs/protocol/requests.md#read-api). */
export type ApiRequest =
  | QueryRangeRequest
  | QueryRequest
  | LabelsRequest
  | LabelValuesRequest
  | SeriesRequest
  | IndexStatsRequest
  | FormatQueryRequest
  | TailRequest
  | DeleteRequest
  | DeletionsRequest
  | TenantRequest
  | DiscoveryRequest;

export type Operation = ApiRequest['op'];
