import { operationOf } from '../operations/index.js';
import type { TtlRules } from '../operations/descriptor.js';
import type { Answer } from '../wire/answer/types.js';
import type { ApiRequest } from '../wire/api/request.js';

/**
 * How long an answer may be served again, in milliseconds; 0 when it may not be kept at all. An answer that reaches into the recent
 * past is kept for the allowed staleness only, however old the window is when it is asked for again: lines may still have been on
 * their way when it was made.
 */
export function ttlMs(request: ApiRequest, answer: Answer, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  if (cache === 'never' || !isComplete(answer)) return 0;
  const base = cache.ttlMs(request, answer, rules);
  return cache.isRecent(request, nowMs, rules) ? Math.min(base, rules.recentTailRefreshMaxStaleness) : base;
}

/** Partial answers carry a warning; encoded ones are somebody else's. */
function isComplete(answer: Answer): boolean {
  return answer.kind !== 'encoded' && (!('warnings' in answer) || answer.warnings.length === 0);
}
