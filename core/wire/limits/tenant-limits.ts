/** The limits of one request. Zero means "no limit" in every number; durations in nanoseconds unless the name says otherwise. */
export interface TenantLimits {
  /** Longest time range (docs/protocol/errors-and-limits.md#query-length-and-resolution). */
  readonly maxQueryLengthNs: bigint;
  /** Longest `[range]` of a range aggregation. */
  readonly maxQueryRangeNs: bigint;
  readonly maxQueryLookbackNs: bigint;
  readonly maxEntriesLimitPerQuery: number;
  readonly maxQuerySeries: number;
  readonly volumeMaxSeries: number;
  /** True when volumes are answered. */
  readonly volumeEnabled: boolean;
  readonly queryTimeoutMs: number;
  readonly retentionPeriodNs: bigint;
  readonly maxQueryBytesRead: number;
  readonly labelValuesMaxResponseBytes: number;
}
