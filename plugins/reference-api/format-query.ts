import type { FormatQueryRequest } from '../../core/wire/api/request.js';
import { LogqlError } from '../../core/logql/error.js';
import type { Answer, HttpCall } from '../../core/plugin/index.js';

/** Asks the chain for a formatted query; a query that cannot be parsed gets Loki's own failure body instead of the error body. */
export async function formatQuery(call: HttpCall, request: FormatQueryRequest): Promise<Answer> {
  try {
    return await call.ask(request);
  } catch (error) {
    if (!(error instanceof LogqlError)) throw error;
    return {
      kind: 'encoded',
      status: 400,
      contentType: 'application/json; charset=utf-8',
      headers: new Map(),
      refusal: error,
      body: Buffer.from(JSON.stringify({ status: 'invalid-query', error: error.message })),
    };
  }
}
