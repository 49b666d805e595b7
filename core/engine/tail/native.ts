import { apiError } from '../../base/errors/table.js';
import { query } from '../../victoria/logsql/build.js';
import type { BackendRow } from '../../victoria/upstream/types.js';
import type { TailContext } from './context.js';
import { readDelayNs } from './poll-windows.js';

/**
 * Opens the backend's own tail. Rejects when it is refused or does not start in time. VictoriaLogs omits rows that become visible after a
 * younger row of their stream, so it does not replace polling.
 */
export function openNative(context: TailContext): Promise<AsyncIterable<readonly BackendRow[]>> {
  const { rules, filter, upstream } = context;
  return upstream.tail({
    query: query(filter),
    offsetNs: readDelayNs(context),
    startOffsetMs: rules.lookbackMs,
    refreshMs: rules.refreshMs,
    openTimeoutMs: rules.openTimeoutMs,
  });
}

/** The next rows of the backend's own tail. Rejects when it ends. */
export async function nextRows(
  tail: AsyncIterator<readonly BackendRow[]>,
): Promise<{ readonly kind: 'rows'; readonly rows: readonly BackendRow[] }> {
  let result: IteratorResult<readonly BackendRow[]>;
  try {
    result = await tail.next();
  } catch (error) {
    throw apiError('nativeTailEnded', {}, { cause: error });
  }
  if (result.done === true) throw apiError('nativeTailEnded', {});
  return { kind: 'rows', rows: result.value };
}
