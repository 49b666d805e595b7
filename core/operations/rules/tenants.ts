import type { Tenant } from '../../base/caller.js';
import { apiError } from '../../base/errors/table.js';
import { emptyMatcherFault } from '../../logql/check/faults.js';
import { logQueriesOf, mapMatchers, type LogExpr, type MetricExpr } from '../../logql/index.js';
import { biggest } from '../../wire/answer/merge/volume-order.js';
import type { Answer } from '../../wire/answer/types.js';
import type {
  ApiRequest,
  Browse,
  DetectedFieldsRequest,
  DetectedFieldValuesRequest,
  QueryRangeRequest,
  QueryRequest,
} from '../../wire/api/request.js';
import type { TenantStrategy, TenantMerge } from '../descriptor.js';
import { takeTenantMatchers } from './tenant-matchers.js';

type ScanRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;

/** The largest possible limit. */
export const unlimited = 0xffff_ffff;

export const once: TenantStrategy = { kind: 'once' };

export const oneTenantOnly = { kind: 'refused', error: 'multiTenantUnsupported' } as const;

/** Merges the answers of all tenants. */
export function mergeTenants<Request>(
  strategy: TenantMerge<Request>['strategy'],
  finish: TenantMerge<Request>['finish'] = (answer) => answer,
  mergeOptions: TenantMerge<Request>['mergeOptions'] = () => ({ direction: 'backward' }),
): TenantMerge<Request> {
  return { kind: 'allowed', strategy, finish, mergeOptions };
}

export function metricStrategy(request: QueryRangeRequest | QueryRequest, expr: MetricExpr): TenantStrategy {
  // An expression without logs is the same for every tenant.
  return logQueriesOf(expr).length > 0 ? { kind: 'together', request, expr } : once;
}

/** Merges log queries by field; other queries are rejected, for every tenant alike. */
export function mergeScans(request: ScanRequest, tenants: readonly Tenant[]): TenantStrategy {
  const { ast } = request.query;
  return ast.kind === 'log' ? mergeLogs(request, ast, tenants) : once;
}

export function mergeLogs(
  request: QueryRangeRequest | ScanRequest,
  ast: LogExpr,
  tenants: readonly Tenant[],
): TenantStrategy {
  const filter = takeTenantMatchers(ast.selector.matchers);
  if (filter === undefined) return mergeAll(request, tenants);
  const fault = emptyMatcherFault(filter.matchers);
  if (fault !== undefined) throw apiError('selectorWithoutTenants', { cause: fault });
  const query = request.query.withAst(mapMatchers(ast, () => filter.matchers));
  const chosen = tenants.filter(({ id }) => filter.accepts(id));
  return { kind: 'merge', parts: chosen.map((tenant) => ({ tenant, request: { ...request, query } })) };
}

/**
 * Sends the same request for every tenant. As in Loki only queries select tenants by the label; here a matcher on it refers to a label that
 * streams do not have (docs/protocol/tenants.md#several-tenants).
 */
export function mergeAll(request: ApiRequest, tenants: readonly Tenant[]): TenantStrategy {
  return { kind: 'merge', parts: tenants.map((tenant) => ({ tenant, request })) };
}

/** Lists the tenants themselves, as values of the tenant label. */
export function tenantNames(browse: Browse, tenants: readonly Tenant[]): TenantStrategy {
  return { kind: 'tenant-names', tenantIds: tenants.map(({ id }) => id), browse };
}

export function biggestVolumes(answer: Answer, { limit }: { readonly limit: number }): Answer {
  return answer.kind === 'volume' ? { ...answer, series: biggest(answer.series, limit) } : answer;
}
