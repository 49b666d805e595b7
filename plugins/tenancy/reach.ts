import type { ApiRequest } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';

/** The oldest time that may be read: anything before the lookback or the retention counts as deleted. Undefined means unlimited. */
export function oldestOf(limits: TenantLimits, nowNs: bigint): bigint | undefined {
  const { maxQueryLookbackNs, retentionPeriodNs } = limits;
  const bounds = [maxQueryLookbackNs, retentionPeriodNs].filter((ns) => ns > 0n);
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return nowNs - others.reduce((least, ns) => (ns < least ? ns : least), first);
}

/** Shortens the default range of a listing to the longest one that the tenants may ask for. */
export function withinLength(request: ApiRequest, { maxQueryLengthNs }: TenantLimits): ApiRequest {
  if (!('isOpenRange' in request) || !request.isOpenRange || maxQueryLengthNs === 0n) return request;
  const { startNs, endNs } = request.range;
  const allowedNs = endNs - maxQueryLengthNs;
  return startNs >= allowedNs ? request : { ...request, range: { startNs: allowedNs, endNs } };
}
