import { entryIdentity } from '../../victoria/names/entry-identity.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { TimeRange } from '../../base/time/range.js';
import { Instant } from '../rows/instant.js';
import type { TailContext } from './context.js';
import type { TailLine } from './line-maker.js';
import { reachNs } from './poll-windows.js';

type Context = Pick<TailContext, 'reads' | 'lines' | 'recent' | 'rules'>;

const minPageRows = 100;

/**
 * Reads the newest entries of a range, up to a limit, and returns them oldest first. Rows young enough to be read again are remembered;
 * when the limit cuts the range, rows before the cut do not belong to the tail.
 */
export async function readHistory(
  range: TimeRange,
  limit: number,
  { reads, lines, recent, rules }: Context,
): Promise<readonly TailLine[]> {
  const youngNs = range.endNs - reachNs(rules);
  const found: TailLine[] = [];
  // Pages repeat the rows of the timestamp at which they were cut, and rows may have been pushed twice.
  const instant = new Instant<LogRow>(entryIdentity);
  for await (const rows of reads.newestFirst(range, Math.max(limit, minPageRows))) {
    for (const row of rows) {
      const oldest = found.at(-1);
      if (oldest !== undefined && found.length >= limit) {
        recent.forgetBefore(oldest.entry.timestampNs + 1n);
        return found.reverse();
      }
      if (instant.isRepeated(row.timestampNs, row)) continue;
      if (row.timestampNs >= youngNs) recent.add(row);
      const entry = await lines.make(row);
      if (entry !== undefined) found.push(entry);
    }
  }
  recent.forgetBefore(youngNs);
  return found.reverse();
}
