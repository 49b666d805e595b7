import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { query, stats, statsFunction, timeBucket } from '../../../victoria/logsql/build.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { Upstream } from '../../../victoria/upstream/types.js';

/** A stretch of time and the rows it had when they were counted. */
export interface RowWindow {
  readonly range: TimeRange;
  readonly rows: number;
}

const parts = 128n;
const shortestPartNs = 1_000_000n;

/**
 * Cuts a range into windows of no more rows than told, as far as time can be cut, from old to new; stretches without rows are
 * left out. Rows that come in between do no harm: they are in one of the windows or too new to be asked for.
 */
export async function planWindows(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
  maxRows: number,
): Promise<readonly RowWindow[]> {
  const lengthNs = range.endNs - range.startNs;
  if (lengthNs <= 0n) return [];
  const partNs = lengthNs / parts < shortestPartNs ? shortestPartNs : lengthNs / parts;
  const counts = await countParts(upstream, filter, range, partNs);
  const windows: RowWindow[] = [];
  let open: RowWindow | undefined;
  for (const { startNs, rows } of counts) {
    const part = { range: clip(startNs, startNs + partNs, range), rows };
    if (open !== undefined && open.rows + rows <= maxRows) {
      open = { range: { startNs: open.range.startNs, endNs: part.range.endNs }, rows: open.rows + rows };
      continue;
    }
    if (open !== undefined) windows.push(open);
    open = undefined;
    if (rows <= maxRows || partNs === shortestPartNs) open = part;
    else windows.push(...(await planWindows(upstream, filter, part.range, maxRows)));
  }
  if (open !== undefined) windows.push(open);
  return windows;
}

async function countParts(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
  partNs: bigint,
): Promise<readonly { readonly startNs: bigint; readonly rows: number }[]> {
  const counting = stats([timeBucket(partNs)], statsFunction('count', [], 'rows'));
  const counts: { readonly startNs: bigint; readonly rows: number }[] = [];
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range })) {
    for (const row of batch) {
      counts.push({ startNs: parseRowTime(row['_time'] ?? ''), rows: Number(row['rows'] ?? 0) });
    }
  }
  return counts.sort((a, b) => (a.startNs < b.startNs ? -1 : 1));
}

function clip(startNs: bigint, endNs: bigint, range: TimeRange): TimeRange {
  return {
    startNs: startNs < range.startNs ? range.startNs : startNs,
    endNs: endNs > range.endNs ? range.endNs : endNs,
  };
}
