import { finishedAnswer } from '../../wire/answer/encode.js';
import type { DeleteRequest, DeletionsRequest } from '../../wire/api/request.js';
import { apiError } from '../../base/errors/table.js';
import { hasRows } from '../rows/count-by-time.js';
import type { DeletePlan, DeletionsPlan } from '../plan/types.js';
import type { EngineContext } from '../context.js';
import type { Answer } from '../../wire/answer/types.js';
import type { DeletionTaken } from '../../victoria/upstream/types.js';
import { printRfc3339 } from '../../base/time/index.js';

/**
 * Deletes the rows of a plan and audits it with one log record before and one after (docs/protocol/requests.md#deletion). Resolves when the
 * backend has accepted the task; the rows are deleted in the background. The answer is empty.
 */
export async function deleteRows(
  plan: DeletePlan,
  request: DeleteRequest,
  { caller, trace, tenant, upstream, log, clock }: EngineContext,
): Promise<Answer> {
  const { range } = request;
  if (plan.uncertain !== undefined && (await hasRows(plan.uncertain, range, upstream))) {
    const cause = 'some rows of these streams have no stored line, so the backend cannot match it';
    throw apiError('deleteUntranslatable', { cause });
  }
  const deletion = upstream.deletion({ filter: plan.filter, range });
  const audit = {
    'ref.tenant.id': tenant.id,
    // A digest would not show what was deleted.
    'ref.query': request.query.text,
    'delete.logsql': deletion.logsql,
    'delete.start': printRfc3339(range.startNs),
    'delete.end': printRfc3339(range.endNs),
    'client.address': caller.address,
  };
  const startedMs = clock.monotonicMs();
  const outcome = (): object => ({
    'upstream.status_code': trace.upstreamCalls.at(-1)?.status ?? 0,
    'proxy.duration_ms': clock.monotonicMs() - startedMs,
  });
  log.warn('DELETE request', audit);
  try {
    const send = (): Promise<DeletionTaken> => deletion.run();
    const { taskId } = await (request.around?.(tenant, send) ?? send());
    log.warn('DELETE completed', {
      ...audit,
      ...outcome(),
      ...(taskId === undefined ? {} : { 'delete.task_id': taskId }),
    });
  } catch (error) {
    log.warn('DELETE failed', { ...audit, ...outcome(), error });
    throw error;
  }
  return finishedAnswer(204, Buffer.alloc(0), '');
}

/** Lists the ids of the tasks that the backend has not finished. */
export async function listDeletions(
  _plan: DeletionsPlan,
  _request: DeletionsRequest,
  { upstream }: EngineContext,
): Promise<Answer> {
  if (upstream.activeDeletions === undefined) throw apiError('deletionsUntold', {});
  return { kind: 'names', values: await upstream.activeDeletions(), warnings: [] };
}
