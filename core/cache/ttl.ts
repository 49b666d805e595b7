import { operationOf } from '../operations/index.js';
import type { TtlRules } from '../operations/descriptor.js';
import type { Answer } from '../wire/answer/types.js';
import type { ApiRequest } from '../wire/api/request.js';

/**
 * How long an answer may be reused, in milliseconds; 0 means not at all. An answer that includes the recent past is only kept for the
 * allowed staleness, however old its window is when it is requested again: lines may have arrived after it was made.
 */
export function ttlMs(request: ApiRequest, answer: Answer, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  if (cache === 'never' || !isComplete(answer)) return 0;
  const base = cache.ttlMs(request, answer, rules);
  return cache.isRecent(request, nowMs, rules) ? Math.min(base, rules.recentTailRefreshMaxStaleness) : base;
}

/** How long any answer to a request may be reused at most, in milliseconds. */
export function mostTtlMs(request: ApiRequest, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  const isRecent = cache !== 'never' && cache.isRecent(request, nowMs, rules);
  return isRecent ? rules.recentTailRefreshMaxStaleness : Infinity;
}

/** Partial answers carry a warning; encoded ones belong to another stage. */
function isComplete(answer: Answer): boolean {
  return answer.kind !== 'encoded' && (!('warnings' in answer) || answer.warnings.length === 0);
}
