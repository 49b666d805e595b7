import type { TenantLimits } from './tenant-limits.js';
import { parseDuration } from '../../base/time/option-duration.js';

type Reader = (value: unknown, where: string) => Partial<TenantLimits>;

/**
 * The enforced limits by their field names in tenant-limits (docs/protocol/answers.md#published-tenant-limits). Other fields are read
 * elsewhere (`otlp_config`) or not at all.
 */
export const limitFields: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  // A zero length falls through to the next layer (docs/protocol/errors-and-limits.md#query-length-and-resolution); elsewhere zero switches
  // the limit off.
  ['max_query_length', (value, where) => nonZero(duration(value, where), (ns) => ({ maxQueryLengthNs: ns }))],
  ['max_query_range', (value, where) => ({ maxQueryRangeNs: duration(value, where) })],
  ['max_query_lookback', (value, where) => ({ maxQueryLookbackNs: duration(value, where) })],
  ['max_entries_limit_per_query', (value, where) => ({ maxEntriesLimitPerQuery: count(value, where) })],
  ['max_query_series', (value, where) => ({ maxQuerySeries: count(value, where) })],
  ['volume_max_series', (value, where) => ({ volumeMaxSeries: count(value, where) })],
  ['volume_enabled', (value, where) => ({ volumeEnabled: isTrue(value, where) })],
  ['query_timeout', (value, where) => ({ queryTimeoutMs: Number(duration(value, where) / 1_000_000n) })],
  ['retention_period', (value, where) => ({ retentionPeriodNs: duration(value, where) })],
  ['max_query_bytes_read', (value, where) => ({ maxQueryBytesRead: bytes(value, where) })],
  [
    'label_values_max_response_bytes',
    (value, where) => ({ labelValuesMaxResponseBytes: bytes(value, where) }),
  ],
]);

/** True if a field of tenant limits has any effect. */
export function isReadLimit(field: string): boolean {
  return limitFields.has(field) || field === 'otlp_config';
}

/** Parses one enforced field; `where` starts the error message. */
export function readLimitField(field: string, value: unknown, where: string): Partial<TenantLimits> {
  return limitFields.get(field)?.(value, where) ?? {};
}

function nonZero(ns: bigint, make: (ns: bigint) => Partial<TenantLimits>): Partial<TenantLimits> {
  return ns === 0n ? {} : make(ns);
}

function duration(value: unknown, where: string): bigint {
  // YAML and JSON write "no limit" as a bare 0.
  const ms = value === 0 ? 0 : typeof value === 'string' ? parseDuration(value, 'long') : undefined;
  if (ms === undefined) {
    throw new Error(`${where}: ${JSON.stringify(value)} is not a duration such as "90d" or "1h30m"`);
  }
  // Years in nanoseconds exceed the safe integers of a number, so whole milliseconds are converted first.
  const wholeMs = Math.trunc(ms);
  return BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6));
}

function count(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error(`${where}: ${JSON.stringify(value)} is not a whole number of 0 or more`);
  }
  return value;
}

function isTrue(value: unknown, where: string): boolean {
  if (typeof value !== 'boolean')
    throw new Error(`${where}: ${JSON.stringify(value)} is neither true nor false`);
  return value;
}

const byteUnits: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 2 ** 10],
  ['kib', 2 ** 10],
  ['mb', 2 ** 20],
  ['mib', 2 ** 20],
  ['gb', 2 ** 30],
  ['gib', 2 ** 30],
  ['tb', 2 ** 40],
  ['tib', 2 ** 40],
]);

/** Bytes as a number or in Loki's notation: "64MB", powers of 1024. */
function bytes(value: unknown, where: string): number {
  if (typeof value === 'number') return count(value, where);
  const match = typeof value === 'string' ? /^(\d{1,15})\s*([a-z]*)$/i.exec(value.trim()) : null;
  const unit = byteUnits.get((match?.[2] ?? '').toLowerCase());
  if (match === null || unit === undefined)
    throw new Error(`${where}: ${JSON.stringify(value)} is not a size such as 1048576 or "64MB"`);
  return Number(match[1]) * unit;
}
