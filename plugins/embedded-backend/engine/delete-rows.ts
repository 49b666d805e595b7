import { compileFilter, type LogsqlFilter } from '../logsql/index.js';
import type { Store } from '../store/store.js';
import type { TenantId } from '../store/stream-tags.js';
import { pruneFilter } from './prune.js';
import { StoredRow } from './stored-row.js';

/** Removes the matching rows of a tenant, stream by stream with pauses for other work; returns their number. */
export async function removeMatchingRows(
  store: Store,
  tenant: TenantId,
  filter: LogsqlFilter,
  evalNs: bigint,
  signal: AbortSignal,
): Promise<number> {
  const { range, matchesStream, rowFilter } = pruneFilter(filter, evalNs);
  const matches = compileFilter(rowFilter, { nowNs: evalNs });
  let removed = 0;
  for (const stream of store.streams(tenant)) {
    if (signal.aborted) break;
    if (!matchesStream(stream.tags)) continue;
    removed += store.remove(stream, (owner, timeNs, layout, values) => {
      if (timeNs < range.minNs || timeNs > range.maxNs) return false;
      return matches(new StoredRow(owner, timeNs, layout, values));
    });
    await new Promise(setImmediate);
  }
  return removed;
}
