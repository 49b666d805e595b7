import type { Tenant } from '../../base/caller.js';
import { logQueriesOf, mapMatchers, type LogExpr, type MetricExpr } from '../../logql/index.js';
import { biggest } from '../../wire/answer/merge/volume-order.js';
import type { Answer } from '../../wire/answer/types.js';
import type { DetectedFieldsRequest, DetectedFieldValuesRequest } from '../../wire/api/discovery-request.js';
import type { Selector } from '../../wire/api/query.js';
import type {
  ApiRequest,
  Browse,
  QueryRangeRequest,
  QueryRequest,
  SeriesRequest,
} from '../../wire/api/request.js';
import type { Part, Strategy, TenantMerge } from '../descriptor.js';
import { splitSelector, takeTenantMatchers } from './tenant-matchers.js';

type ScanRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;
type SelectorRequest = Extract<ApiRequest, { readonly query: Selector }>;

/** The largest possible limit. */
export const unlimited = 0xffff_ffff;

export const once: Strategy = { kind: 'once' };

export const oneTenantOnly = { kind: 'refused', error: 'multiTenantUnsupported' } as const;

/** Answers of all tenants, merged. */
export function merged<Request>(
  strategy: TenantMerge<Request>['strategy'],
  finish: TenantMerge<Request>['finish'] = (answer) => answer,
  mergeOptions: TenantMerge<Request>['mergeOptions'] = () => ({ direction: 'backward' }),
): TenantMerge<Request> {
  return { kind: 'allowed', strategy, finish, mergeOptions };
}

export function metricStrategy(request: QueryRangeRequest | QueryRequest, expr: MetricExpr): Strategy {
  // An expression without logs is the same for every tenant.
  return logQueriesOf(expr).length > 0 ? { kind: 'together', request, expr } : once;
}

/** Log queries are merged by field; other queries are refused, for every tenant alike. */
export function mergeScans(request: ScanRequest, tenants: readonly Tenant[]): Strategy {
  const { ast } = request.query;
  return ast.kind === 'log' ? mergeLogs(request, ast, tenants) : once;
}

export function mergeLogs(
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

/** The same request for each tenant that the selector selects. */
export function mergeSelected(
  selector: Selector | undefined,
  tenants: readonly Tenant[],
  requestWith: (selector: Selector | undefined) => ApiRequest,
): Strategy {
  const split = splitSelector(selector);
  const request = requestWith(split.selector);
  const chosen = tenants.filter(({ id }) => split.accepts(id));
  return { kind: 'merge', parts: chosen.map((tenant) => ({ tenant, request })) };
}

/** The same for requests that require a selector: if none is left, it selects everything. */
export function mergeWithSelector(request: SelectorRequest, tenants: readonly Tenant[]): Strategy {
  return mergeSelected(request.query, tenants, (selector) => ({
    ...request,
    query: selector ?? request.query.withMatchers('{}', []),
  }));
}

/** The selector of a listing, which is left out when it has no matchers. */
export function asOptional(selector: Selector | undefined): { readonly query?: Selector } {
  return selector === undefined ? {} : { query: selector };
}

/** The tenants themselves, as values of the tenant label. */
export function tenantNames(
  selector: Selector | undefined,
  browse: Browse,
  tenants: readonly Tenant[],
): Strategy {
  const { accepts } = splitSelector(selector);
  return { kind: 'tenant-names', tenantIds: tenants.map(({ id }) => id).filter(accepts), browse };
}

/** Each selector of a series request selects its own tenants. */
export function mergeSeries(request: SeriesRequest, tenants: readonly Tenant[]): Strategy {
  if (request.selectors.length === 0) {
    return { kind: 'merge', parts: tenants.map((tenant) => ({ tenant, request })) };
  }
  const splits = request.selectors.map(splitSelector);
  const parts = tenants.flatMap((tenant): Part[] => {
    const accepted = splits.filter((split) => split.accepts(tenant.id)).map((split) => split.selector);
    if (accepted.length === 0) return [];
    const selectors = accepted.filter((selector) => selector !== undefined);
    // A selector without matchers selects everything and makes the others redundant; so does an empty list.
    return [
      { tenant, request: { ...request, selectors: selectors.length < accepted.length ? [] : selectors } },
    ];
  });
  return { kind: 'merge', parts };
}

export function biggestVolumes(answer: Answer, { limit }: { readonly limit: number }): Answer {
  return answer.kind === 'volume' ? { ...answer, series: biggest(answer.series, limit) } : answer;
}
