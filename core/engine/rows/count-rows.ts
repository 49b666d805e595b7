import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query, stats, statsFunction } from '../../victoria/logsql/build.js';
import type { Upstream } from '../../victoria/upstream/types.js';

/** Lets the backend count rows. */
export async function countRows(upstream: Upstream, filter: LogsqlFilter, range: TimeRange): Promise<number> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  let rows = 0;
  for (const { value } of await upstream.stats({ query: query(filter, [counting]), range }))
    rows += Number(value);
  return rows;
}
