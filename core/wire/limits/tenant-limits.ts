/** The limits of one request. Zero means "no limit" for every number; durations are in nanoseconds unless the name says otherwise. */
export interface TenantLimits {
  /** Maximum time range (docs/protocol/errors-and-limits.md#query-length-and-resolution). */
  readonly maxQueryLengthNs: bigint;
  /** Maximum `[range]` of a range aggregation. */
  readonly maxQueryRangeNs: bigint;
  readonly maxQueryLookbackNs: bigint;
  readonly maxEntriesLimitPerQuery: number;
  readonly maxQuerySeries: number;
  readonly volumeMaxSeries: number;
  /** True if volume endpoints are enabled. */
  readonly volumeEnabled: boolean;
  readonly queryTimeoutMs: number;
  readonly retentionPeriodNs: bigint;
  readonly maxQueryBytesRead: number;
  readonly labelValuesMaxResponseBytes: number;
}
