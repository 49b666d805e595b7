import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { fields, limit, query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import { parseRowTime } from '../../victoria/names/row-reader.js';
import { columnOf, type Upstream } from '../../victoria/upstream/types.js';

/** Number of rows in a time bucket, which starts at a multiple of its length. */
export interface BucketCount {
  readonly startNs: bigint;
  readonly rows: number;
}

/**
 * Counts rows by time with one call that reads no lines, in the order of time; buckets without rows are left out. Counts stored rows,
 * including repeats that a query would count once.
 * @param isPreflight true if the counts are only used to plan how rows are read
 */
export async function countByTime(
  filter: LogsqlFilter,
  range: TimeRange,
  bucketNs: bigint,
  upstream: Pick<Upstream, 'rows'>,
  isPreflight = false,
): Promise<readonly BucketCount[]> {
  const counting = stats([timeBucket(bucketNs)], statsFunction('count', [], 'rows'));
  const counts: BucketCount[] = [];
  const asked = { query: query(filter, [counting]), range, ...(isPreflight ? { isPreflight } : {}) };
  for await (const batch of upstream.rows(asked))
    for (const row of batch)
      counts.push({ startNs: parseRowTime(row._time ?? ''), rows: Number(columnOf(row, 'rows') ?? 0) });
  return counts.sort((a, b) => (a.startNs < b.startNs ? -1 : 1));
}

/**
 * Lets the backend count rows.
 * @param isPreflight true if the number is only used to plan how rows are read
 */
export async function countRows(
  upstream: Pick<Upstream, 'stats'>,
  filter: LogsqlFilter,
  range: TimeRange,
  isPreflight = false,
): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  const asked = { query: query(filter, [counting]), range, ...(isPreflight ? { isPreflight } : {}) };
  let rows = 0;
  for (const { value } of await upstream.stats(asked)) rows += Number(value);
  return rows;
}

/** True if a filter matches any row. */
export async function hasRows(filter: LogsqlFilter, range: TimeRange, upstream: Upstream): Promise<boolean> {
  const asked = { query: query(filter, [fields('_time'), limit(1)]), range };
  for await (const batch of upstream.rows(asked)) if (batch.length > 0) return true;
  return false;
}
