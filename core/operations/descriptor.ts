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

/** What the stages decide by operation; one file per operation says it, and index.ts holds them all. */
export interface OperationDescriptor<Request extends ApiRequest> {
  readonly selection: Selection<Request>;
  readonly cache: CachePolicy<Request> | 'never';
  readonly limits: LimitRules<Request>;
  readonly tenants: SeveralTenants<Request>;
  /** The answer when nothing of what is asked for may be seen. */
  readonly empty: (request: Request) => Answer;
}

export type ChangeMatchers = (matchers: readonly Matcher[]) => readonly Matcher[];

/** What a request selects logs by. */
export interface Selection<Request> {
  /** The texts that a client may have written at any length. */
  readonly texts: (request: Request) => readonly string[];
  /** The request with other matchers in all its selectors. Throws LogqlError for a text that cannot be read. */
  readonly mapSelectors: (request: Request, change: ChangeMatchers) => Request;
}

/** The options that decide how long an answer is kept; milliseconds. */
export interface TtlRules {
  /** For query and query_range. */
  readonly queryTtl: number;
  /** For labels and label values; 0 means the built-in 5 minutes. */
  readonly labelsCacheTtl: number;
  readonly recentTailRefreshEnabled: boolean;
  readonly recentTailRefreshWindow: number;
  readonly recentTailRefreshMaxStaleness: number;
  /** How near to now a label or series request counts as recent; 0 switches that off. */
  readonly maxMetadataCacheFreshness: number;
}

/** How answers are kept and shared by calls in flight. What costs little, has no end or changes something is 'never' kept. */
export interface CachePolicy<Request extends ApiRequest> {
  /** What an answer depends on, beside the operation, the tenant and the caller. */
  readonly key: KeyParts<Omit<Request, 'op'>>;
  readonly ttlMs: (request: Request, answer: Answer, rules: TtlRules) => number;
  /** Whether the answer reaches into the recent past, where lines may still be on their way. */
  readonly isRecent: (request: Request, nowMs: number, rules: TtlRules) => boolean;
  /** Whether `-stream-response` sends the answer in chunks, so that it never stands anywhere as finished bytes. */
  readonly isChunked: boolean;
}

/** Throws the error of a limit of the tenant that the request exceeds. */
export type LimitCheck<Request> = (
  request: Request,
  limits: TenantLimits,
  signal: AbortSignal,
) => void | Promise<void>;

/** A query and the time of its evaluation. */
export interface QueryOverTime {
  readonly query: Query;
  readonly range: TimeRange;
}

export interface LimitRules<Request> {
  /** Held by the guard for each tenant, in this order. */
  readonly checks: readonly LimitCheck<Request>[];
  /** The part of the request that is not older than told; undefined when nothing is left of it. Throws LogqlError for a query that cannot be read. */
  readonly within: (request: Request, oldestNs: bigint) => Request | undefined;
  /** Whether the `query_timeout` of the tenant ends it. */
  readonly isTimed: boolean;
  /** What `max_query_bytes_read` is held against; undefined for what it does not concern. */
  readonly bytesRead: ((request: Request) => QueryOverTime) | undefined;
}

/** One tenant's part of a request. */
export interface Part {
  readonly tenant: Tenant;
  readonly request: ApiRequest;
}

/**
 * How one request over several tenants is answered. Answers that are unions or sums are merged from one run of the rest per tenant.
 * A metric query is different: `sum` over two tenants is not the union of two sums, so it must be evaluated once over the rows of
 * all tenants (kind `together`).
 */
export type Strategy =
  /** Run each part, label and merge. No part means that no tenant was selected: an empty answer. */
  | { readonly kind: 'merge'; readonly parts: readonly Part[] }
  /** The answer is the same for every tenant: run the request for one. */
  | { readonly kind: 'once' }
  /** The answer is the list of tenants itself. */
  | { readonly kind: 'tenant-names'; readonly tenantIds: readonly string[]; readonly browse: Browse }
  /** A metric query over the logs of all these tenants at once. */
  | {
      readonly kind: 'together';
      readonly request: QueryRangeRequest | QueryRequest;
      readonly expr: MetricExpr;
    };

/** How the answers of several tenants become one. */
export interface TenantMerge<Request> {
  readonly kind: 'allowed';
  /** Throws LogqlError for a query that must be read for it and cannot be. */
  readonly strategy: (request: Request, tenants: readonly Tenant[]) => Strategy;
  readonly mergeOptions: (request: Request) => MergeOptions;
  /** What is biggest or first over all tenants is known only when their answers are merged. */
  readonly finish: (answer: Answer, request: Request) => Answer;
}

/** Whether several tenants may be asked for at once (docs/protocol/tenants.md#finding-the-tenant). */
export type SeveralTenants<Request> =
  | { readonly kind: 'refused'; readonly error: 'multiTenantUnsupported' | 'severalTenantsTailed' }
  | TenantMerge<Request>;
