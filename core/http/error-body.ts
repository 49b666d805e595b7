import type { Socket } from 'node:net';
import { apiError } from '../base/errors/table.js';
import { ApiError, errorTypeOf } from '../base/errors/api-error.js';
import { RefusedQuery } from '../base/errors/refused-query.js';
import { RowTimeError } from '../victoria/names/row-reader.js';
import { StreamTextError } from '../victoria/logsql/stream-text.js';
import { blamedFor } from '../kernel/blame.js';
import { unexpectedAnswer } from '../victoria/upstream/failures.js';
import { finishedAnswer } from '../wire/answer/encode.js';
import type { EncodedAnswer } from '../wire/answer/types.js';

/**
 * The error as the client sees it: an ApiError unchanged, a LogQL error as 400 with Loki's text, an invalid row as 502, a bug as 500 that
 * names the plugin.
 */
export function clientErrorOf(error: unknown, signal: AbortSignal): ApiError {
  // Errors after an abort are its consequences; the client should see the abort reason.
  if (signal.aborted && signal.reason instanceof ApiError) return signal.reason;
  if (error instanceof ApiError) return error;
  if (error instanceof RefusedQuery) return apiError('badRequest', { text: error.message }, { cause: error });
  // Rows are parsed where they are used, so these are faults of the backend.
  if (error instanceof StreamTextError || error instanceof RowTimeError)
    return unexpectedAnswer('the backend', error.message, error);
  const culprit = blamedFor(error);
  if (culprit === undefined) return apiError('internal', {}, { cause: error });
  const { kind, id, plugin } = culprit;
  return apiError('pluginDefect', { kind, id, plugin }, { cause: error });
}

/** The error of a request whose connection ended before its answer was sent. */
export function connectionError({ errored }: Socket): ApiError {
  const code = errored !== null && 'code' in errored ? String(errored.code) : '';
  // Node has already answered these two, with these statuses.
  if (code.startsWith('HPE_')) return apiError('brokenBody', {});
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiError('slowBody', {});
  return apiError('clientGone', {});
}

/** Encodes an error body (docs/protocol/errors-and-limits.md#error-body) in the form given by its table entry; `hide` removes secrets. */
export function encodeError(
  error: ApiError,
  hasMessageField: boolean,
  hide: (text: string) => string,
): EncodedAnswer {
  const text = hide(error.message);
  const headers = new Map(Object.entries(error.headers));
  const answerOf = (shown: string, type: string): EncodedAnswer =>
    finishedAnswer(error.status, Buffer.from(`${shown}\n`), type, headers);
  if (error.entry.body === 'text') return answerOf(text, 'text/plain; charset=utf-8');
  const body = { status: 'error', errorType: errorTypeOf(error.status), error: text };
  return answerOf(JSON.stringify(hasMessageField ? { ...body, message: text } : body), 'application/json');
}
