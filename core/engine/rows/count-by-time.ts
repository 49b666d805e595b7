import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import { parseRowTime } from '../../victoria/names/row-time.js';
import { columnOf, type Upstream } from '../../victoria/upstream/types.js';

/** The rows of a bucket of time, which begins at a multiple of its length. */
export interface BucketCount {
  readonly startNs: bigint;
  readonly rows: number;
}

/**
 * Counts rows by time in one call that reads no line, in the order of time; buckets without rows are left out. Rows are counted as they are
 * stored, not as a query would count them.
 * @param isPreflight true when the counts only plan how rows are read
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

/** Lets the backend count rows. */
export async function countRows(upstream: Upstream, filter: LogsqlFilter, range: TimeRange): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  let rows = 0;
  for (const { value } of await upstream.stats({ query: query(filter, [counting]), range }))
    rows += Number(value);
  return rows;
}
