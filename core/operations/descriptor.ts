import type { Tenant } from '../base/caller.js';
import type { KeyParts } from '../base/keys/parts.js';
import type { TimeRange } from '../base/time/range.js';
import type { MetricExpr } from '../logql/index.js';
import type { MergeOptions } from '../wire/answer/merge/index.js';
import type { Answer } from '../wire/answer/types.js';
import type { Query } from '../wire/api/query.js';
import type { ApiRequest, Browse, QueryRangeRequest, QueryRequest } from '../wire/api/request.js';
import type { TenantLimits } from '../wire/limits/tenant-limits.js';
import type { Matcher } from '../logql/ast.js';

/** Everything that stages decide by operation. Each operation is described in one file, and index.ts collects them all. */
export interface OperationDescriptor<Request extends ApiRequest> {
  readonly selection: Selection<Request>;
  readonly cache: CachePolicy<Request> | 'never';
  readonly limits: LimitRules<Request>;
  readonly tenants: SeveralTenants<Request>;
  /** True where the answer is made of the request alone, so that Loki does not look at the tenant. */
  readonly ignoresTenant?: true;
  /** The answer when nothing the request asks for is accessible. */
  readonly empty: (request: Request) => Answer;
}

export type ChangeMatchers = (matchers: readonly Matcher[]) => readonly Matcher[];

/** The selection of logs by a request. */
export interface Selection<Request> {
  /** The texts whose length the client chooses. */
  readonly texts: (request: Request) => readonly string[];
  /** Returns the request with other matchers in all its selectors. Throws LogqlError for a text that cannot be parsed. */
  readonly mapSelectors: (request: Request, change: ChangeMatchers) => Request;
}

/** The options that decide how long an answer is cached; milliseconds. */
export interface TtlRules {
  /** For query and query_range. */
  readonly queryTtl: number;
  /** For labels and label values; 0 means the built-in 5 minutes. */
  readonly labelsCacheTtl: number;
  /** Labels and label values that list nothing are kept at least as long as what these tiers take. */
  readonly diskCacheMinTtl: number;
  readonly peerWriteThroughMinTtl: number;
  readonly recentTailRefreshEnabled: boolean;
  readonly recentTailRefreshWindow: number;
  readonly recentTailRefreshMaxStaleness: number;
  /** The age up to which a label or series request counts as recent; 0 disables this. */
  readonly maxMetadataCacheFreshness: number;
}

/**
 * Caching of answers, and their sharing by concurrent calls. An answer that is cheap, endless or the result of a change is 'never' cached.
 */
export interface CachePolicy<Request extends ApiRequest> {
  /** Inputs of an answer, besides the operation, the tenant and the caller. */
  readonly key: KeyParts<Omit<Request, 'op'>>;
  readonly ttlMs: (request: Request, answer: Answer, rules: TtlRules) => number;
  /** True when the answer includes the recent past, for which lines may still arrive. */
  readonly isRecent: (request: Request, nowMs: number, rules: TtlRules) => boolean;
  /** True when `-stream-response` sends the answer in chunks, so that its bytes never exist as a whole. */
  readonly isChunked: boolean;
}

/** Throws the error of a tenant's limit that the request exceeds. */
export type LimitCheck<Request> = (
  request: Request,
  limits: TenantLimits,
  signal: AbortSignal,
) => void | Promise<void>;

/** A query and its time range of evaluation. */
export interface QueryOverTime {
  readonly query: Query;
  readonly range: TimeRange;
}

export interface LimitRules<Request> {
  /** Checked by the guard for each tenant, in this order. */
  readonly checks: readonly LimitCheck<Request>[];
  /**
   * The part of the request that is not older than `oldestNs`; undefined when nothing remains. Throws LogqlError for a query that cannot be
   * parsed.
   */
  readonly within: (request: Request, oldestNs: bigint) => Request | undefined;
  /** True when the tenant's `query_timeout` applies. */
  readonly isTimed: boolean;
  /** The query that `max_query_bytes_read` applies to; undefined when it does not apply. */
  readonly bytesRead: ((request: Request) => QueryOverTime) | undefined;
}

/** One tenant's part of a request. */
export interface TenantPart {
  readonly tenant: Tenant;
  readonly request: ApiRequest;
}

/**
 * The way in which one request over several tenants is answered. Answers that are unions or sums are merged from one run of the rest per
 * tenant. A metric query is different: `sum` over two tenants is not the union of two sums, so it is evaluated once over the rows of all
 * tenants (kind `together`).
 */
export type TenantStrategy =
  /** Run each part, label its answer and merge. Without parts no tenant was selected, and the answer is empty. */
  | { readonly kind: 'merge'; readonly parts: readonly TenantPart[] }
  /** The answer is the same for every tenant: run the request for one. */
  | { readonly kind: 'once' }
  /** The answer is the list of tenants. */
  | { readonly kind: 'tenant-names'; readonly tenantIds: readonly string[]; readonly browse: Browse }
  /** A metric query over the logs of all these tenants at once. */
  | {
      readonly kind: 'together';
      readonly request: QueryRangeRequest | QueryRequest;
      readonly expr: MetricExpr;
    };

/** Merges the answers of several tenants. */
export interface TenantMerge<Request> {
  readonly kind: 'allowed';
  /** Throws LogqlError for a query that must be parsed and is invalid. */
  readonly strategy: (request: Request, tenants: readonly Tenant[]) => TenantStrategy;
  readonly mergeOptions: (request: Request) => MergeOptions;
  /** Sorts and limits the merged answer, which is only possible once all parts are in. */
  readonly finish: (answer: Answer, request: Request) => Answer;
}

/** True when a request may name several tenants (docs/protocol/tenants.md#finding-the-tenant). */
export type SeveralTenants<Request> =
  | { readonly kind: 'refused'; readonly error: 'multiTenantUnsupported' | 'severalTenantsTailed' }
  | TenantMerge<Request>;
