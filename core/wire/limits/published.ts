import type { TenantLimits } from './tenant-limits.js';
import { printPrometheusDuration } from '../../base/time/index.js';
import { levelNames } from '../../victoria/names/level-words.js';
import { serviceDiscoveryLabels } from '../../victoria/names/service-name.js';

/** A limit value as JSON or YAML holds it. */
export type LimitValue =
  string | number | boolean | null | readonly LimitValue[] | { readonly [name: string]: LimitValue };

/** The fields published when `-tenant-limits-allow-publish` is not set (docs/protocol/answers.md#published-tenant-limits). */
export const publishedByDefault: ReadonlySet<string> = new Set([
  'discover_log_levels',
  'discover_service_name',
  'log_level_fields',
  'max_entries_limit_per_query',
  'max_line_size_truncate',
  'max_query_bytes_read',
  'max_query_length',
  'max_query_lookback',
  'max_query_range',
  'max_query_series',
  'metric_aggregation_enabled',
  'otlp_config',
  'pattern_persistence_enabled',
  'query_timeout',
  'retention_period',
  'retention_stream',
  'volume_enabled',
  'volume_max_series',
]);

/** True if the default allowlist publishes a field. */
export function isPublishedByDefault(field: string): boolean {
  return publishedByDefault.has(field);
}

/** The published limits of a tenant without overrides: the effective values, and this proxy's settings for reading logs. */
export function publishedBuiltIns(limits: TenantLimits): Map<string, LimitValue> {
  return new Map<string, LimitValue>([
    ['discover_log_levels', true],
    ['discover_service_name', serviceDiscoveryLabels],
    ['label_values_max_response_bytes', limits.labelValuesMaxResponseBytes],
    ['log_level_fields', levelNames],
    ['max_entries_limit_per_query', limits.maxEntriesLimitPerQuery],
    ['max_line_size_truncate', false],
    ['max_query_bytes_read', `${limits.maxQueryBytesRead}B`],
    ['max_query_length', printPrometheusDuration(limits.maxQueryLengthNs)],
    ['max_query_lookback', printPrometheusDuration(limits.maxQueryLookbackNs)],
    ['max_query_range', printPrometheusDuration(limits.maxQueryRangeNs)],
    ['max_query_series', limits.maxQuerySeries],
    ['metric_aggregation_enabled', false],
    ['otlp_config', {}],
    ['pattern_persistence_enabled', false],
    ['query_timeout', printPrometheusDuration(BigInt(limits.queryTimeoutMs) * 1_000_000n)],
    ['retention_period', printPrometheusDuration(limits.retentionPeriodNs)],
    ['retention_stream', []],
    ['volume_enabled', limits.volumeEnabled],
    ['volume_max_series', limits.volumeMaxSeries],
  ]);
}
