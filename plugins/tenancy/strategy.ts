/**
 * How one request over several tenants is answered. Answers that are unions or sums are merged from one run of the rest per tenant.
 * A metric query is different: `sum` over two tenants is not the union of two sums, so it must be evaluated once over the rows of
 * all tenants (kind `together`).
 */
import type { Tenant } from '../../core/base/caller.js';
import type {
  DetectedFieldsRequest,
  DetectedFieldValuesRequest,
} from '../../core/wire/api/discovery-request.js';
import type { Selector } from '../../core/wire/api/query.js';
import type {
  ApiRequest,
  QueryRangeRequest,
  QueryRequest,
  SeriesRequest,
} from '../../core/wire/api/request.js';
import { logQueriesOf, mapMatchers, type LogExpr, type MetricExpr } from '../../core/logql/index.js';
import { isOversized } from './hold.js';
import { splitSelector, takeTenantMatchers } from './matchers.js';
import { widen } from './paging.js';
import { originalTenantLabel, tenantLabel } from './tenant-label.js';

type ScanRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;
/** As many as a limit can say. */
const unlimited = 0xffff_ffff;

/** One tenant's part of a request. */
export interface Part {
  readonly tenant: Tenant;
  readonly request: ApiRequest;
}

export type Strategy =
  /** Run each part, label and merge. No part means that no tenant was selected: an empty answer. */
  | { readonly kind: 'merge'; readonly parts: readonly Part[] }
  /** The answer is the same for every tenant: run the request for one. */
  | { readonly kind: 'once' }
  /** The answer is the list of tenants itself. */
  | { readonly kind: 'tenant-names'; readonly tenantIds: readonly string[] }
  /** A metric query over the logs of all these tenants at once. */
  | {
      readonly kind: 'together';
      readonly request: QueryRangeRequest | QueryRequest;
      readonly expr: MetricExpr;
    };

/** Chooses the strategy. Throws LogqlError for a query that must be read for it and cannot be. */
export function chooseStrategy(
  request: ApiRequest,
  tenants: readonly Tenant[],
  maxQueryBytes: number,
): Strategy {
  switch (request.op) {
    case 'query_range':
    case 'query': {
      const { query } = request;
      // Guard refuses an oversized text; it is not to be parsed here first.
      if (isOversized(request, maxQueryBytes)) return { kind: 'once' };
      if (query.ast.kind !== 'log')
        return logQueriesOf(query.ast).length > 0
          ? { kind: 'together', request, expr: query.ast }
          : { kind: 'once' };
      // A log query is refused as an instant query, for every tenant alike.
      return request.op === 'query' ? { kind: 'once' } : mergeLogs(request, query.ast, tenants);
    }
    case 'labels':
      return mergeSelected(request.query, tenants, (selector) => ({
        op: 'labels',
        range: request.range,
        browse: widen(request.browse),
        ...(selector === undefined ? {} : { query: selector }),
      }));
    case 'label_values':
      if (request.name === tenantLabel) return tenantNames(request.query, tenants);
      return mergeSelected(request.query, tenants, (selector) => ({
        op: 'label_values',
        name: request.name === originalTenantLabel ? tenantLabel : request.name,
        range: request.range,
        browse: widen(request.browse),
        ...(selector === undefined ? {} : { query: selector }),
      }));
    case 'volume':
    case 'volume_range':
    case 'patterns': {
      // Each tenant gives all it has: what is biggest over all of them shows only when they are added up.
      const all = request.query.withMatchers('{}', []);
      const limit = request.op === 'patterns' ? request.limit : unlimited;
      return mergeSelected(request.query, tenants, (selector) => ({
        ...request,
        limit,
        query: selector ?? all,
      }));
    }
    case 'detected_labels':
      return mergeSelected(request.query, tenants, (selector) => ({
        op: 'detected_labels',
        range: request.range,
        ...(selector === undefined ? {} : { query: selector }),
      }));
    case 'detected_fields':
    case 'detected_field_values':
      return mergeScans(request, tenants, maxQueryBytes);
    case 'index_stats': {
      const all = request.query.withMatchers('{}', []);
      return mergeSelected(request.query, tenants, (selector) => ({ ...request, query: selector ?? all }));
    }
    case 'series':
      return mergeSeries(request, tenants);
    case 'index_shards':
    case 'tail':
    case 'delete':
    case 'format_query':
    case 'tenant':
      return { kind: 'once' };
  }
}

/** Fields of log queries; other queries are refused, for every tenant alike. */
function mergeScans(request: ScanRequest, tenants: readonly Tenant[], maxQueryBytes: number): Strategy {
  const { query } = request;
  if (isOversized(request, maxQueryBytes)) return { kind: 'once' };
  return query.ast.kind === 'log' ? mergeLogs(request, query.ast, tenants) : { kind: 'once' };
}

function mergeLogs(
  request: QueryRangeRequest | ScanRequest,
  ast: LogExpr,
  tenants: readonly Tenant[],
): Strategy {
  const filter = takeTenantMatchers(ast.selector.matchers);
  if (filter === undefined) return { kind: 'merge', parts: tenants.map((tenant) => ({ tenant, request })) };
  const query = request.query.withAst(mapMatchers(ast, () => filter.matchers));
  const chosen = tenants.filter(({ id }) => filter.accepts(id));
  return { kind: 'merge', parts: chosen.map((tenant) => ({ tenant, request: { ...request, query } })) };
}

function mergeSelected(
  selector: Selector | undefined,
  tenants: readonly Tenant[],
  requestWith: (selector: Selector | undefined) => ApiRequest,
): Strategy {
  const split = splitSelector(selector);
  const request = requestWith(split.selector);
  const chosen = tenants.filter(({ id }) => split.accepts(id));
  return { kind: 'merge', parts: chosen.map((tenant) => ({ tenant, request })) };
}

function tenantNames(selector: Selector | undefined, tenants: readonly Tenant[]): Strategy {
  const { accepts } = splitSelector(selector);
  return { kind: 'tenant-names', tenantIds: tenants.map(({ id }) => id).filter(accepts) };
}

/** Each selector of a series request chooses tenants for itself. */
function mergeSeries(request: SeriesRequest, tenants: readonly Tenant[]): Strategy {
  if (request.selectors.length === 0) {
    return { kind: 'merge', parts: tenants.map((tenant) => ({ tenant, request })) };
  }
  const splits = request.selectors.map(splitSelector);
  const parts = tenants.flatMap((tenant): Part[] => {
    const accepted = splits.filter((split) => split.accepts(tenant.id)).map((split) => split.selector);
    if (accepted.length === 0) return [];
    const selectors = accepted.filter((selector) => selector !== undefined);
    // One that selects everything makes the others needless, and no selector at all means just that.
    return [
      { tenant, request: { ...request, selectors: selectors.length < accepted.length ? [] : selectors } },
    ];
  });
  return { kind: 'merge', parts };
}
