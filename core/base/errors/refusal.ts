import { ApiError } from './api-error.js';
import { RefusedQuery } from './refused-query.js';

/** Whether a request ends so because of what it asks, whoever answers it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RefusedQuery || (error instanceof ApiError && error.status < 499);
}
