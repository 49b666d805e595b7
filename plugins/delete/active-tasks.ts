import { errorTable } from '../../core/base/errors/table.js';
import { ApiError, type Host } from '../../core/plugin/index.js';

const askMs = 10_000;

/** Undefined where the backend cannot be asked now; `untold` where it cannot tell. */
export type ActiveTasks = ReadonlySet<string> | 'untold' | undefined;

/** Asks the backend which deletions it is running. */
export async function activeTasks(
  host: Pick<Host, 'ask'>,
  orgId: string | undefined,
  stopped: AbortSignal,
): Promise<ActiveTasks> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(askMs)]);
  try {
    const answer = await host.ask({ op: 'deletions' }, { orgId, signal });
    return answer.kind === 'names' ? new Set(answer.values) : 'untold';
  } catch (error) {
    return isUntold(error) ? 'untold' : undefined;
  }
}

/** The backend has no such path, refuses it, or says something else; a backend that is busy or away may tell later. */
function isUntold(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.entry === errorTable.deletionsUntold ||
    (error.status < 500 && error.status !== 429 && error.status !== 499)
  );
}
