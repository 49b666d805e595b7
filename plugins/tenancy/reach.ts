import type { TimeRange } from '../../core/base/time/range.js';
import type { ApiRequest } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import { logQueriesOf } from '../../core/logql/index.js';

/** The oldest moment that may be read: what is older than the lookback or than the retention is as good as gone. Undefined for no bound. */
export function oldestOf(limits: TenantLimits, nowNs: bigint): bigint | undefined {
  const { maxQueryLookbackNs, retentionPeriodNs } = limits;
  const bounds = [maxQueryLookbackNs, retentionPeriodNs].filter((ns) => ns > 0n);
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return nowNs - others.reduce((least, ns) => (ns < least ? ns : least), first);
}

/** Shortens the range of a listing for which the client named none to the longest that the tenants may ask for. */
export function withinLength(request: ApiRequest, { maxQueryLengthNs }: TenantLimits): ApiRequest {
  if (!('isOpenRange' in request) || !request.isOpenRange || maxQueryLengthNs === 0n) return request;
  const { startNs, endNs } = request.range;
  const allowedNs = endNs - maxQueryLengthNs;
  return startNs >= allowedNs ? request : { ...request, range: { startNs: allowedNs, endNs } };
}

/** The part of a request that is not older than told; undefined when nothing of it is left. Throws LogqlError for a query that cannot be read. */
export function withinReach(request: ApiRequest, oldestNs: bigint): ApiRequest | undefined {
  switch (request.op) {
    case 'query':
      return request.timeNs >= oldestNs || !readsLogs(request) ? request : undefined;
    case 'query_range':
      return request.range.startNs >= oldestNs || !readsLogs(request)
        ? request
        : shortened(request, oldestNs);
    case 'labels':
    case 'label_values':
    case 'series':
    case 'index_stats':
    case 'index_shards':
    case 'volume':
    case 'volume_range':
    case 'detected_labels':
    case 'detected_fields':
    case 'detected_field_values':
    case 'patterns':
    case 'tail':
      return shortened(request, oldestNs);
    case 'delete':
    case 'format_query':
    case 'tenant':
      return request;
  }
}

/** An expression without logs is the same at all times. */
function readsLogs({
  query,
}: {
  readonly query: { readonly ast: Parameters<typeof logQueriesOf>[0] };
}): boolean {
  return logQueriesOf(query.ast).length > 0;
}

function shortened<Request extends ApiRequest & { readonly range: TimeRange }>(
  request: Request,
  oldestNs: bigint,
): Request | undefined {
  const { startNs, endNs } = request.range;
  if (startNs >= oldestNs) return request;
  return endNs < oldestNs ? undefined : { ...request, range: { startNs: oldestNs, endNs } };
}
