import type { TailRequest } from '../../wire/api/request.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { LogsPlan } from '../plan/types.js';
import { openTail, type TailParts } from './open.js';
import type { LiveAnswer } from '../../wire/answer/live.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { readPages } from '../rows/row-pages.js';

/** Answers a tail: its history, and what comes, line by line as a range query would show it. */
export function answerTail(
  plan: LogsPlan,
  request: TailRequest,
  parts: Omit<TailParts, 'readRows'> & {
    readonly upstream: Upstream;
    readonly memory: MemoryAccount;
  },
): Promise<LiveAnswer> {
  const { upstream, reader, signal, memory } = parts;
  return openTail(plan, request, {
    ...parts,
    readRows: (range, direction, firstPageRows) =>
      readPages({ filter: plan.filter, range, direction, firstPageRows, upstream, reader, signal, memory }),
  });
}
