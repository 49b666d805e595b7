import type { TenantLimits } from './tenant-limits.js';

/** The smallest non-zero value of each limit: applies to a request over several tenants. */
export function mergeStrictest(all: readonly TenantLimits[]): TenantLimits {
  const smallest = (read: (limits: TenantLimits) => number): number =>
    all.reduce((least, limits) => stricter(least, read(limits), 0), 0);
  const shortest = (read: (limits: TenantLimits) => bigint): bigint =>
    all.reduce((least, limits) => stricter(least, read(limits), 0n), 0n);
  return {
    maxQueryLengthNs: shortest((limits) => limits.maxQueryLengthNs),
    maxQueryRangeNs: shortest((limits) => limits.maxQueryRangeNs),
    maxQueryLookbackNs: shortest((limits) => limits.maxQueryLookbackNs),
    maxEntriesLimitPerQuery: smallest((limits) => limits.maxEntriesLimitPerQuery),
    maxQuerySeries: smallest((limits) => limits.maxQuerySeries),
    volumeMaxSeries: smallest((limits) => limits.volumeMaxSeries),
    volumeEnabled: all.every((limits) => limits.volumeEnabled),
    queryTimeoutMs: smallest((limits) => limits.queryTimeoutMs),
    retentionPeriodNs: shortest((limits) => limits.retentionPeriodNs),
    maxQueryBytesRead: smallest((limits) => limits.maxQueryBytesRead),
    labelValuesMaxResponseBytes: smallest((limits) => limits.labelValuesMaxResponseBytes),
  };
}

function stricter<Value extends number | bigint>(a: Value, b: Value, none: Value): Value {
  if (a === none) return b;
  return b === none || a < b ? a : b;
}
