import { ApiError } from '../../base/errors/api-error.js';
import { apiError, errorTable } from '../../base/errors/table.js';
import { isLostNode } from './failures.js';
import type { DeletionTaken } from './types.js';

type Form = readonly (readonly [string, string])[];
type Post = (path: string, form: Form) => Promise<string>;

const taskPath = '/delete/run_task';
/** The specification's path for deletion, which VictoriaLogs does not have (docs/protocol/requests.md#deletion). */
const plainPath = '/select/logsql/delete';

/**
 * Asks the backend to delete the rows of a filter, as a task (docs/protocol/victorialogs.md#deletion-tasks), or by the specification's path
 * when it has no tasks. The filter contains the time range; `times` repeats it for the second path.
 * @throws ApiError: the backend's own refusal (deletion may be disabled there), else 502
 */
export async function runDeletion(logsql: string, times: Form, post: Post): Promise<DeletionTaken> {
  try {
    return { taskId: readTaskId(await post(taskPath, [['filter', logsql]])) };
  } catch (error) {
    if (!isUnknownPath(error)) throw failureOf(error);
  }
  try {
    await post(plainPath, [['query', logsql], ...times]);
    return { taskId: undefined };
  } catch (error) {
    if (!isUnknownPath(error)) throw failureOf(error);
    throw apiError('deleteFailed', { cause: 'this backend cannot delete' }, { cause: error });
  }
}

function readTaskId(text: string): string {
  const id = taskIdOf(text);
  if (id !== undefined) return id;
  throw apiError('deleteFailed', { cause: 'the backend named no task' }, { cause: new Error(text) });
}

function taskIdOf(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null || !('task_id' in body)) return undefined;
    return typeof body.task_id === 'string' && body.task_id !== '' ? body.task_id : undefined;
  } catch {
    return undefined;
  }
}

/** VictoriaLogs answers 400 to unknown paths, others 404. */
function isUnknownPath(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.entry !== errorTable.backendRefused) return false;
  return error.status === 404 || (error.status === 400 && error.message.includes('unsupported path'));
}

/** Refusals, timeouts and an open breaker are passed on; everything else becomes a failed deletion. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const isFailure =
    error.entry === errorTable.backendUnreachable ||
    isLostNode(error) ||
    (error.entry === errorTable.backendRefused && error.status >= 500);
  if (!isFailure) return error;
  return apiError('deleteFailed', { cause: `${error.message}${adviceOn(error)}` }, { cause: error });
}

/** What a cluster needs, whose own texts are mostly addresses: it deletes on each of its nodes (docs/protocol/victorialogs.md#clusters). */
function adviceOn(error: ApiError): string {
  if (isLostNode(error)) return '; the others may have begun: send it again when all can be reached';
  const origin = error.cause instanceof Error ? error.cause.message : '';
  return origin.includes('-internaldelete.enable') ? '; storage nodes need -internaldelete.enable' : '';
}
