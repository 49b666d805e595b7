import type { LiveAnswer } from '../../wire/answer/live.js';
import type { TailRequest } from '../../wire/api/request.js';
import type { EngineContext } from '../context.js';
import type { LogsPlan } from '../plan/types.js';
import { readAll, readPages } from '../rows/row-pages.js';
import { openTail } from './open.js';

/** Answers a tail: its history, then new lines as a range query would show them. */
export function answerTail(
  plan: LogsPlan,
  request: TailRequest,
  context: EngineContext,
): Promise<LiveAnswer> {
  const { upstream, reader, signal, memory, limits, tenant } = context;
  const { filter } = plan;
  const rows = { filter, upstream, reader, signal, memory };
  return openTail(plan, request, {
    ...context,
    maxHistory: limits.of([tenant.id]).maxEntriesLimitPerQuery,
    reads: {
      newestFirst: (range, firstPageRows) =>
        readPages({ ...rows, range, direction: 'backward', firstPageRows }),
      all: (range) => readAll({ ...rows, range, direction: 'forward' }),
    },
  });
}
