import type { TenantLimits } from './tenant-limits.js';
import type { LimitsOptions } from '../../base/options.gen.js';
import { isReadLimit, limitFields, readLimitField } from './fields.js';
import { isPublishedByDefault, type LimitValue, publishedBuiltIns } from './published.js';

/** Limits by tenant: the `limits` section of the pipeline file, read once at startup. */
export interface Limits {
  /** The limits of a request for these tenants: the strictest non-zero value of each limit. */
  of(tenantIds: readonly string[]): TenantLimits;
  /**
   * The limits that `/config/tenant/v1/limits` and drilldown-limits publish for a tenant, sorted by field
   * (docs/protocol/answers.md#published-tenant-limits).
   */
  published(tenantId: string): ReadonlyMap<string, LimitValue>;
  /** Limits of this process, and of all tenants together. */
  readonly process: LimitsSettings;
}

/** The options that define the limits; durations in milliseconds, `tenantLimits` by X-Scope-OrgID. */
export interface LimitsSettings extends LimitsOptions {
  /** The timeout of every request of every tenant (`-http-write-timeout`); 0 means none. */
  readonly requestTimeout?: number;
}

/** Reads the settings; an invalid value throws an Error naming tenant and field. */
export function createLimits(settings: LimitsSettings): Limits {
  const defaults = overridesOf(settings.tenantDefaultLimits, 'tenant-default-limits');
  const byTenant = new Map<string, Overrides>();
  for (const [tenantId, fields] of Object.entries(settings.tenantLimits)) {
    byTenant.set(tenantId, overridesOf(fields, `tenant-limits["${tenantId}"]`));
  }
  const builtIn = builtInLimits(settings);
  const common = { ...builtIn, ...defaults.limits };
  // Only configured tenants have an entry, so invented tenant ids take no memory.
  const effective = new Map(
    [...byTenant].map(([tenantId, own]) => [tenantId, { ...common, ...own.limits }] as const),
  );
  const limitsOfOne = (tenantId: string): TenantLimits => effective.get(tenantId) ?? common;
  const allowed = new Set(settings.tenantLimitsAllowPublish ?? []);
  const isPublished = (field: string): boolean =>
    allowed.size === 0 ? isPublishedByDefault(field) : allowed.has(field);
  return {
    of: (tenantIds) => {
      const [only, second] = tenantIds;
      if (only === undefined) return common;
      return second === undefined ? limitsOfOne(only) : mergeStrictest(tenantIds.map(limitsOfOne));
    },
    published: (tenantId) => {
      const own = inEffect(limitsOfOne(tenantId), settings);
      const values = publishedBuiltIns(own);
      for (const layer of [defaults, byTenant.get(tenantId)]) {
        for (const [field, value] of layer?.raw ?? [])
          if (isInEffectAsWritten(field, value, own)) values.set(field, value);
      }
      return new Map(
        [...values].filter(([field]) => isPublished(field)).sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    },
    process: settings,
  };
}

/** The tenant's limits, capped by the process-wide request timeout. */
function inEffect(limits: TenantLimits, { requestTimeout = 0 }: LimitsSettings): TenantLimits {
  return mergeStrictest([limits, { ...limits, queryTimeoutMs: requestTimeout }]);
}

/**
 * True if a field is published as the operator wrote it. A field that is read is, while that value is in effect. For fields that are not
 * read, the built-in list shows how this proxy reads logs, regardless of the written value; others are published only if the operator lists
 * them.
 */
function isInEffectAsWritten(field: string, value: LimitValue, limits: TenantLimits): boolean {
  if (!limitFields.has(field)) return isReadLimit(field) || !isPublishedByDefault(field);
  const current = new Map<string, unknown>(Object.entries(limits));
  const read = Object.entries(readLimitField(field, value, field));
  return read.length > 0 && read.every(([name, limit]) => current.get(name) === limit);
}

const defaultMaxQuerySeries = 500;
const defaultVolumeMaxSeries = 1000;
function builtInLimits(settings: LimitsSettings): TenantLimits {
  return {
    maxQueryLengthNs: BigInt(Math.round(settings.defaultMaxQueryLength)) * 1_000_000n,
    maxQueryRangeNs: 0n,
    maxQueryLookbackNs: 0n,
    maxEntriesLimitPerQuery: settings.maxEntriesLimitPerQuery,
    maxQuerySeries: settings.maxStatsQuerySeries === 0 ? defaultMaxQuerySeries : settings.maxStatsQuerySeries,
    volumeMaxSeries: defaultVolumeMaxSeries,
    volumeEnabled: true,
    queryTimeoutMs: 0,
    retentionPeriodNs: 0n,
    maxQueryBytesRead: 0,
    labelValuesMaxResponseBytes: settings.labelValuesMaxResponseBytes,
  };
}

/** One layer of limits: parsed, and as the operator wrote it. */
interface Overrides {
  readonly limits: Partial<TenantLimits>;
  readonly raw: ReadonlyMap<string, LimitValue>;
}

function overridesOf(fields: unknown, where: string): Overrides {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error(`${where}: must be an object of limit fields`);
  const raw = new Map<string, LimitValue>();
  let limits: Partial<TenantLimits> = {};
  for (const [field, value] of Object.entries(fields)) {
    // JSON and YAML only produce LimitValue types; the field's reader checks what it may hold.
    raw.set(field, value as LimitValue);
    if (!limitFields.has(field)) continue;
    limits = { ...limits, ...readLimitField(field, value, `${where}.${field}`) };
  }
  return { limits, raw };
}

/** The strictest value of each limit, for a request over several tenants. */
function mergeStrictest(all: readonly TenantLimits[]): TenantLimits {
  return all.reduce((merged, limits) => {
    const others = new Map(Object.entries<Limit>({ ...limits }));
    const entries = Object.entries<Limit>({ ...merged }).map(([name, value]) => [
      name,
      stricter(value, others.get(name)),
    ]);
    // The members keep their types: both values of a limit have the same one.
    return Object.fromEntries(entries) as TenantLimits;
  });
}

type Limit = TenantLimits[keyof TenantLimits];

/** The smaller number, where 0 means no limit; what one of them turns off is off. */
function stricter(a: Limit, b: Limit = a): Limit {
  if (typeof a === 'boolean' || typeof b === 'boolean') return a && b;
  if (!a) return b;
  return !b || a < b ? a : b;
}
