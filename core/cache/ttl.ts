import { operationOf } from '../operations/index.js';
import type { TtlRules } from '../operations/descriptor.js';
import type { Answer } from '../wire/answer/types.js';
import type { ApiRequest } from '../wire/api/request.js';

/**
 * The TTL of an answer in milliseconds; 0 means do not cache. An answer that includes the recent past is only cached for the allowed
 * staleness, however old its window is when it is requested again: lines may have arrived after it was made.
 */
export function ttlMs(request: ApiRequest, answer: Answer, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  if (cache === 'never' || !isComplete(answer)) return 0;
  const base = cache.ttlMs(request, answer, rules);
  return cache.isRecent(request, nowMs, rules) ? Math.min(base, rules.recentTailRefreshMaxStaleness) : base;
}

/** Upper bound of the TTL of any answer to a request, in milliseconds. */
export function mostTtlMs(request: ApiRequest, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  const isRecent = cache !== 'never' && cache.isRecent(request, nowMs, rules);
  return isRecent ? rules.recentTailRefreshMaxStaleness : Infinity;
}

/** Tells whether the answer can be cached. Partial answers carry a warning; encoded ones belong to another stage. */
function isComplete(answer: Answer): boolean {
  return answer.kind !== 'encoded' && (!('warnings' in answer) || answer.warnings.length === 0);
}
