import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { BackendValue, Upstream } from '../../victoria/upstream/types.js';
import { countByTime } from '../rows/count-by-time.js';

/** Rows per call if they are not held in memory. The backend aborts calls that exceed its own deadline, by default 30 s. */
export const callRows = 250_000;

export function rowsOfStreams(listed: readonly BackendValue[]): number {
  return listed.reduce((sum, { hits }) => sum + hits, 0);
}

/** A time segment with its number of rows at the time of the count. */
export interface RowWindow {
  readonly range: TimeRange;
  readonly rows: number;
}

/** Number of buckets per counting query. */
const parts = 128n;
const shortestPartNs = 1_000_000n;

/**
 * Splits a range into windows of at most `maxRows` rows, as far as timestamps allow, from old to new; windows without rows are left out.
 * Rows that arrive meanwhile do no harm: they are in one of the windows, or too new for the query.
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
  const counts = await countByTime(filter, range, partNs, upstream);
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

function clip(startNs: bigint, endNs: bigint, range: TimeRange): TimeRange {
  return {
    startNs: startNs < range.startNs ? range.startNs : startNs,
    endNs: endNs > range.endNs ? range.endNs : endNs,
  };
}
