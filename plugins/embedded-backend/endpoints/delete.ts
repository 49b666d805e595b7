import { type Context, answerJson } from '../http/context.js';
import { badRequest } from '../http/errors.js';
import { parseDeleteFilter } from '../engine/language.js';
import { removeMatchingRows } from '../engine/delete-rows.js';
import { tenantKey } from '../store/stream-tags.js';
import { formatTime, printFilter } from '../logsql/index.js';

/** `POST /delete/run_task`: starts a deletion and returns its id immediately; rows are removed in the background. */
export async function runDeleteTask(ctx: Context): Promise<void> {
  const filter = parseDeleteFilter(ctx.args.get('filter'));
  const { tasks } = ctx.backend;
  let id = ctx.nowNs;
  while (tasks.has(id.toString())) id++;
  const cancel = new AbortController();
  const task = {
    id: id.toString(),
    tenant: ctx.tenant,
    filter: printFilter(filter),
    startTime: formatTime(ctx.nowNs),
    cancel,
  };
  ctx.backend.journal?.addDeletion(ctx.tenant, task.filter, ctx.nowNs);
  await ctx.backend.journal?.commit();
  tasks.set(task.id, task);
  void ctx.backend.settings
    .beforeDeletion()
    .then(() => removeMatchingRows(ctx.backend.store, ctx.tenant, filter, ctx.nowNs, cancel.signal))
    .catch(() => ctx.backend.counters.errors++)
    .finally(() => tasks.delete(task.id));
  await answerJson(ctx, { task_id: task.id });
}

/** `GET /delete/active_tasks`: the deletions of the tenant that are still running. */
export async function activeDeleteTasks(ctx: Context): Promise<void> {
  const own = [...ctx.backend.tasks.values()].filter(
    (task) => tenantKey(task.tenant) === tenantKey(ctx.tenant),
  );
  await answerJson(
    ctx,
    own.map((task) => ({
      task_id: task.id,
      tenant_ids: [{ account_id: task.tenant.accountId, project_id: task.tenant.projectId }],
      filter: task.filter,
      start_time: task.startTime,
    })),
  );
}

/** `POST /delete/stop_task`: stops a deletion; rows already removed stay removed. */
export async function stopDeleteTask(ctx: Context): Promise<void> {
  const id = ctx.args.get('task_id');
  if (id === '') throw badRequest('missing task_id arg');
  ctx.backend.tasks.get(id)?.cancel.abort();
  await answerJson(ctx, { status: 'ok' });
}
