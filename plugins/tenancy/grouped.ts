import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import type { Leaf, SeriesRow } from '../../core/logql/metric/index.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';

/** One tenant's series of a range aggregation. */
export interface TenantRows {
  readonly id: string;
  readonly rows: readonly SeriesRow[];
}

/**
 * Whether a range aggregation groups the lines of all tenants by labels other than the tenant, so that its series belong to no single
 * tenant.
 */
export function isAcrossTenants({ range: { op, grouping } }: Leaf): boolean {
  if (grouping === undefined || grouping.without || rangeFunctions[op].join === undefined) return false;
  return !grouping.labels.includes(tenantLabel);
}

/**
 * Merges series with the same labels: extremes of several tenants are the extremes of all, and a value that only one tenant has is the
 * value of all. Undefined for series that cannot be merged (such as an average of averages).
 */
export function mergeAcrossTenants(
  { range: { op } }: Leaf,
  rows: readonly [SeriesRow, ...SeriesRow[]],
): SeriesRow | undefined {
  const { join } = rangeFunctions[op];
  const [first, ...others] = rows;
  const merged = { labels: first.labels, values: first.values.slice(), present: first.present.slice() };
  for (const row of others) {
    for (const [column, isPresent] of row.present.entries()) {
      if (isPresent === 0) continue;
      const value = row.values[column] ?? NaN;
      const isFirst = merged.present[column] === 0;
      const joined = isFirst ? value : join?.combine(merged.values[column] ?? NaN, value);
      if (joined === undefined) return undefined;
      merged.values[column] = joined;
      merged.present[column] = 1;
    }
  }
  return merged;
}
