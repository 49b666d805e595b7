import type { TenantLimits } from './tenant-limits.js';
import { printPrometheusDuration } from '../../base/time/index.js';
import { levelNames } from '../../victoria/names/level-words.js';
import { serviceDiscoveryLabels } from '../../victoria/names/service-name.js';

/** A limit value as JSON or YAML holds it. */
export type LimitValue =
  string | number | boolean | null | readonly LimitValue[] | { readonly [name: string]: LimitValue };

/** The published fields of a tenant without overrides: the effective values, and this proxy's settings for reading logs. */
const builtIns: ReadonlyMap<string, (limits: TenantLimits) => LimitValue> = new Map<
  string,
  (limits: TenantLimits) => LimitValue
>([
  ['discover_log_levels', () => true],
  ['discover_service_name', () => serviceDiscoveryLabels],
  ['label_values_max_response_bytes', (limits) => limits.labelValuesMaxResponseBytes],
  ['log_level_fields', () => levelNames],
  ['max_entries_limit_per_query', (limits) => limits.maxEntriesLimitPerQuery],
  ['max_line_size_truncate', () => false],
  ['max_query_bytes_read', (limits) => `${limits.maxQueryBytesRead}B`],
  ['max_query_length', (limits) => printPrometheusDuration(limits.maxQueryLengthNs)],
  ['max_query_lookback', (limits) => printPrometheusDuration(limits.maxQueryLookbackNs)],
  ['max_query_range', (limits) => printPrometheusDuration(limits.maxQueryRangeNs)],
  ['max_query_series', (limits) => limits.maxQuerySeries],
  ['metric_aggregation_enabled', () => false],
  ['otlp_config', () => ({})],
  ['pattern_persistence_enabled', () => false],
  ['query_timeout', (limits) => printPrometheusDuration(BigInt(limits.queryTimeoutMs) * 1_000_000n)],
  ['retention_period', (limits) => printPrometheusDuration(limits.retentionPeriodNs)],
  ['retention_stream', () => []],
  ['volume_enabled', (limits) => limits.volumeEnabled],
  ['volume_max_series', (limits) => limits.volumeMaxSeries],
]);

/** True if a field is published unless `-tenant-limits-allow-publish` is set (docs/protocol/answers.md#published-tenant-limits). */
export function isPublishedByDefault(field: string): boolean {
  return builtIns.has(field) && field !== 'label_values_max_response_bytes';
}

export function publishedBuiltIns(limits: TenantLimits): Map<string, LimitValue> {
  return new Map([...builtIns].map(([field, read]) => [field, read(limits)]));
}
