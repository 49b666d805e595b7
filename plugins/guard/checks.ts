import { apiError } from '../../core/base/errors/table.js';
import { operationOf, oversizedText } from '../../core/operations/index.js';
import type { ApiRequest } from '../../core/wire/api/request.js';
import type { ProcessLimits } from '../../core/wire/limits/limits.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';

/** Throws the error of the first limit that a request exceeds; a limit of 0 is disabled. An allowed request only costs arithmetic. */
export async function checkRequest(
  request: ApiRequest,
  limits: TenantLimits,
  { maxQueryLengthBytes }: ProcessLimits,
  signal: AbortSignal,
): Promise<void> {
  const length = oversizedText(request, maxQueryLengthBytes);
  if (length !== undefined) throw apiError('queryTooLong', { length, limit: maxQueryLengthBytes });
  for (const check of operationOf(request).limits.checks) await check(request, limits, signal);
}
