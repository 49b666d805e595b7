import { ApiError } from '../../base/errors/api-error.js';
import { apiError, errorTable } from '../../base/errors/table.js';
import { isCallError, isRefusal } from '../upstream/failures.js';
import type { BackendRow, Upstream } from '../upstream/types.js';

/** The outcome of a call to the cold backend. */
export type CallOutcome = 'answered' | 'refused' | 'failed' | 'given_up';

/** Wraps the cold backend: its errors name it as the cold one, and the outcome of each call is reported. */
export function namedCold(
  cold: Upstream,
  signal: AbortSignal,
  ended: (outcome: CallOutcome) => void,
): Upstream {
  const failed = (error: unknown): unknown => {
    if (signal.aborted || !isCallError(error)) {
      ended('given_up');
      return error;
    }
    ended(isRefusal(error) ? 'refused' : 'failed');
    const status = error.entry === errorTable.queryTimeout ? 504 : 502;
    return apiError('coldBackend', { cause: error.message }, { cause: error, status });
  };
  const observed = async <Value>(call: Promise<Value>): Promise<Value> => {
    let value: Value;
    try {
      value = await call;
    } catch (error) {
      throw failed(error);
    }
    ended('answered');
    return value;
  };
  async function* toldRows(
    batches: AsyncIterable<readonly BackendRow[]>,
  ): AsyncGenerator<readonly BackendRow[]> {
    let outcome: CallOutcome | undefined = 'given_up';
    try {
      yield* batches;
      outcome = 'answered';
    } catch (error) {
      outcome = undefined;
      throw failed(error);
    } finally {
      if (outcome !== undefined) ended(outcome);
    }
  }
  const until = cold.until?.bind(cold);
  const taggedWith = cold.taggedWith?.bind(cold);
  return {
    owner: cold.owner,
    unites: cold.unites,
    rows: (request) => toldRows(cold.rows(request)),
    list: (request) => observed(cold.list(request)),
    stats: (request) => observed(cold.stats(request)),
    statsRange: (request) => observed(cold.statsRange(request)),
    tail: (request) => cold.tail(request),
    deletion: (request) => cold.deletion(request),
    until: until && ((bound) => namedCold(until(bound), AbortSignal.any([signal, bound]), ended)),
    taggedWith: taggedWith && ((tag) => namedCold(taggedWith(tag), signal, ended)),
  };
}

/** True if the cold backend could not be read. */
export function isColdFailure(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.coldBackend;
}
