import { errorTable } from '../../core/base/errors/table.js';
import { ApiError, type Host } from '../../core/plugin/index.js';
import { timeoutSignal } from '../../core/base/time/waits.js';

const askMs = 10_000;

/** Ids of the running deletions; undefined if the backend is unreachable now, `untold` if it does not support the question. */
export type ActiveTasks = ReadonlySet<string> | 'untold' | undefined;

/** Requests the running deletions from the backend. */
export async function activeTasks(
  host: Pick<Host, 'ask'>,
  orgId: string | undefined,
  stopped: AbortSignal,
): Promise<ActiveTasks> {
  const signal = AbortSignal.any([stopped, timeoutSignal(askMs)]);
  try {
    const answer = await host.ask({ op: 'deletions' }, { orgId, signal });
    return answer.kind === 'names' ? new Set(answer.values) : 'untold';
  } catch (error) {
    return isUntold(error) ? 'untold' : undefined;
  }
}

/** True if the backend has no such path, rejects it or returns something else; a busy or unreachable backend may answer later. */
function isUntold(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.entry === errorTable.deletionsUntold ||
    (error.status < 500 && error.status !== 429 && error.status !== 499)
  );
}
