import type { TailRequest } from '../../core/api/request.js';
import type { MemoryAccount } from '../../core/memory/account.js';
import type { LogsPlan } from '../../core/plan/types.js';
import { openTail, type TailParts } from '../../core/tail/open.js';
import type { LiveAnswer } from '../../core/tail/types.js';
import type { Upstream } from '../../core/plugin/index.js';
import { readPages } from './row-pages.js';

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
