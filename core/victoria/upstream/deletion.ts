import { ApiError } from '../../base/errors/api-error.js';
import { apiError, errorTable } from '../../base/errors/table.js';
import { memberOf, parsedJson } from '../../base/json-member.js';
import { isLostNode } from './failures.js';
import type { DeletionTaken } from './types.js';

type Form = readonly (readonly [string, string])[];
type Post = (path: string, form: Form) => Promise<string>;

const taskPath = '/delete/run_task';
export const activeTasksPath = '/delete/active_tasks';
/** The specification's path for deletion, which VictoriaLogs does not have (docs/protocol/requests.md#deletion). */
const plainPath = '/select/logsql/delete';

/**
 * Asks the backend to delete the rows of a filter, as a task (docs/protocol/victorialogs.md#deletion-tasks), or by the specification's path
 * if it has no tasks. The filter contains the time range; `times` repeats it for the second path.
 * @throws ApiError: the backend's own rejection (deletion may be disabled there), else 502
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
    throw apiError('deleteFailed', { cause: 'this backend does not support deletion' }, { cause: error });
  }
}

/** @throws ApiError 502 if the text is not a list of tasks: an empty list would mean that all have ended */
export function readActiveTasks(text: string): readonly string[] {
  const tasks = parsedJson(text);
  const ids = Array.isArray(tasks) ? tasks.map(idIn) : [undefined];
  if (ids.every((id) => id !== undefined)) return ids;
  throw apiError('deletionsUntold', {}, { cause: new Error(text) });
}

function readTaskId(text: string): string {
  const id = idIn(parsedJson(text));
  if (id !== undefined) return id;
  throw apiError('deleteFailed', { cause: 'the backend returned no task id' }, { cause: new Error(text) });
}

function idIn(task: unknown): string | undefined {
  const id = memberOf(task, 'task_id');
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** VictoriaLogs answers 400 to unknown paths, others 404. */
function isUnknownPath(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.entry !== errorTable.backendRefused) return false;
  return error.status === 404 || (error.status === 400 && error.message.includes('unsupported path'));
}

/** Rejections, timeouts and an open breaker are passed on; everything else becomes a failed deletion. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const isFailure =
    error.entry === errorTable.backendUnreachable ||
    isLostNode(error) ||
    (error.entry === errorTable.backendRefused && error.status >= 500);
  if (!isFailure) return error;
  return apiError('deleteFailed', { cause: `${error.message}${adviceOn(error)}` }, { cause: error });
}

/**
 * Advice for a cluster, which deletes on each of its nodes, and whose own texts are mostly addresses
 * (docs/protocol/victorialogs.md#clusters).
 */
function adviceOn(error: ApiError): string {
  if (isLostNode(error))
    return '; other nodes may have started the deletion; repeat it when all nodes are reachable';
  const origin = error.cause instanceof Error ? error.cause.message : '';
  return origin.includes('-internaldelete.enable') ? '; storage nodes need -internaldelete.enable' : '';
}
