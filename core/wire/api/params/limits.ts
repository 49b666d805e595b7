import { apiError } from '../../../base/errors/table.js';

/**
 * Refuses a log query that asks for more entries than its tenant may get; 0 means no limit. Called by the stage that knows the tenant and
 * that the query selects logs.
 */
export function checkEntriesLimit(request: { readonly limit: number }, maxEntries: number): void {
  if (maxEntries > 0 && request.limit > maxEntries)
    throw apiError('tooManyEntries', { limit: request.limit, max: maxEntries });
}
