import type { ApiRequest } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';

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
