import type { Tenant } from '../base/caller.js';
import type { KeyParts } from '../base/key-parts.js';
import type { TimeRange } from '../base/time/range.js';
import type { MetricExpr } from '../logql/index.js';
import type { MergeOptions } from '../wire/answer/merge/index.js';
import type { Answer } from '../wire/answer/types.js';
import type { ApiRequest, Browse, Query, QueryRangeRequest, QueryRequest } from '../wire/api/request.js';
import type { TenantLimits } from '../wire/limits/tenant-limits.js';
import type { Matcher } from '../logql/ast.js';

/** Everything that depends on the operation of a request. Each operation is described in one file, and index.ts collects them all. */
export interface OperationDescriptor<Request extends ApiRequest> {
  readonly selection: Selection<Request>;
  readonly cache: CachePolicy<Request> | 'never';
  readonly limits: LimitRules<Request>;
  readonly tenants: SeveralTenants<Request>;
  /** True if the answer only depends on the request, so that Loki does not check the tenant. */
  readonly ignoresTenant?: true;
  /** The answer if nothing that the request asks for is accessible. */
  readonly empty: (request: Request) => Answer;
}

export type ChangeMatchers = (matchers: readonly Matcher[]) => readonly Matcher[];

/** Access to the selectors of a request. */
export interface Selection<Request> {
  /** The texts whose length clients choose. */
  readonly texts: (request: Request) => readonly string[];
  /** Returns the request with changed matchers in all its selectors. Throws LogqlError for a text that cannot be parsed. */
  readonly mapSelectors: (request: Request, change: ChangeMatchers) => Request;
}

/** The options that determine how long an answer is cached; milliseconds. */
export interface TtlRules {
  /** TTL of query and query_range. */
  readonly queryTtl: number;
  /** TTL of labels and label values; 0 means the built-in 5 minutes. */
  readonly labelsCacheTtl: number;
  /** Minimum TTL of entries in these tiers, and of empty listings of labels and label values. */
  readonly diskCacheMinTtl: number;
  readonly peerWriteThroughMinTtl: number;
  readonly recentTailRefreshEnabled: boolean;
  readonly recentTailRefreshWindow: number;
  readonly recentTailRefreshMaxStaleness: number;
  /** Age up to which a label or series request counts as recent; 0 disables this. */
  readonly maxMetadataCacheFreshness: number;
}

/**
 * Caching of answers, and sharing them between concurrent calls. An answer is 'never' cached if it is cheap, endless or has side effects.
 */
export interface CachePolicy<Request extends ApiRequest> {
  /** The inputs of an answer, besides the operation, the tenant and the caller. */
  readonly key: KeyParts<Omit<Request, 'op'>>;
  readonly ttlMs: (request: Request, answer: Answer, rules: TtlRules) => number;
  /** True if the answer includes the recent past, for which lines may still arrive. */
  readonly isRecent: (request: Request, nowMs: number, rules: TtlRules) => boolean;
  /** True if `-stream-response` sends the answer in chunks, so that its bytes never exist as a whole. */
  readonly isChunked: boolean;
}

/** Throws the error of a tenant's limit that the request exceeds. */
export type LimitCheck<Request> = (
  request: Request,
  limits: TenantLimits,
  signal: AbortSignal,
) => void | Promise<void>;

/** A query with its evaluation range. */
export interface QueryOverTime {
  readonly query: Query;
  readonly range: TimeRange;
}

export interface LimitRules<Request> {
  /** Checks that the guard makes for each tenant, in this order. */
  readonly checks: readonly LimitCheck<Request>[];
  /**
   * Restricts the request to times from `oldestNs` on; undefined if nothing remains. Throws LogqlError for a query that cannot be parsed.
   */
  readonly within: (request: Request, oldestNs: bigint) => Request | undefined;
  /** True if the tenant's `query_timeout` applies. */
  readonly isTimed: boolean;
  /** The query to which `max_query_bytes_read` applies; undefined if it does not apply. */
  readonly bytesRead: ((request: Request) => QueryOverTime) | undefined;
}

/** One tenant's part of a request. */
export interface TenantPart {
  readonly tenant: Tenant;
  readonly request: ApiRequest;
}

/**
 * Strategy for a request over several tenants. Answers that are unions or sums are merged from one run of the rest per tenant. A metric
 * query is different: `sum` over two tenants is not the union of two sums, so it is evaluated once over the rows of all tenants (kind
 * `together`).
 */
export type TenantStrategy =
  /** Runs each part, labels its answer and merges. Without parts no tenant was selected, and the answer is empty. */
  | { readonly kind: 'merge'; readonly parts: readonly TenantPart[] }
  /** The answer is the same for every tenant, so the request runs for one of them. */
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
  /** Determines the strategy. Throws LogqlError for a query that must be parsed and is invalid. */
  readonly strategy: (request: Request, tenants: readonly Tenant[]) => TenantStrategy;
  readonly mergeOptions: (request: Request) => MergeOptions;
  /** Sorts and limits the merged answer, which is only possible once all parts have been merged. */
  readonly finish: (answer: Answer, request: Request) => Answer;
}

/** Determines whether a request may name several tenants (docs/protocol/tenants.md#finding-the-tenant). */
export type SeveralTenants<Request> =
  | { readonly kind: 'refused'; readonly error: 'multiTenantUnsupported' | 'severalTenantsTailed' }
  | TenantMerge<Request>;
