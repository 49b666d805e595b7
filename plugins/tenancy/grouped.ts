import type { RangeOp } from '../../core/logql/ast.js';
import type { Leaf, SeriesRow } from '../../core/logql/metric/index.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';

/** The series that one tenant has of a range aggregation. */
export interface TenantRows {
  readonly id: string;
  readonly rows: readonly SeriesRow[];
}

/** Functions that Loki groups once more where it puts tenants together; the series of all others stay each tenant's own. */
const regroupedOps: ReadonlySet<RangeOp> = new Set(['max_over_time', 'min_over_time', 'avg_over_time']);

/** Whether a range aggregation groups the lines of all tenants by other names than the tenant: its series are nobody's own. */
export function isAcrossTenants({ range: { op, grouping } }: Leaf): boolean {
  if (grouping === undefined || grouping.without || !regroupedOps.has(op)) return false;
  return !grouping.labels.includes(tenantLabel);
}

/**
 * Puts series with the same labels together: extremes of several tenants are the extremes of all, and where only one tenant has a
 * value it is the value of all. Undefined for series of which that cannot be told (an average of averages is none).
 */
export function mergeAcrossTenants(
  { range: { op } }: Leaf,
  rows: readonly [SeriesRow, ...SeriesRow[]],
): SeriesRow | undefined {
  const [first, ...others] = rows;
  const merged = { labels: first.labels, values: first.values.slice(), present: first.present.slice() };
  for (const row of others) {
    for (const [column, isPresent] of row.present.entries()) {
      if (isPresent === 0) continue;
      const value = row.values[column] ?? NaN;
      if (merged.present[column] === 0) merged.values[column] = value;
      else if (op === 'max_over_time') merged.values[column] = Math.max(merged.values[column] ?? NaN, value);
      else if (op === 'min_over_time') merged.values[column] = Math.min(merged.values[column] ?? NaN, value);
      else return undefined;
      merged.present[column] = 1;
    }
  }
  return merged;
}
