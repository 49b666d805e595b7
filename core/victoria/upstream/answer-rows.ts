import type { Steps } from '../../base/pace/steps.js';
import type { LogsqlQuery } from '../logsql/ast.js';
import type { BackendAnswer } from './client.js';
import { UnexpectedAnswer } from './decode.js';
import { counted, readRows } from './ndjson.js';
import { RowContract } from './row-contract.js';
import type { BackendRow } from './types.js';

/** Adds the backend and the call to the errors of decoding an answer. */
export function* reading<Value>(answer: BackendAnswer, decoding: Steps<Value>): Steps<Value> {
  try {
    return yield* decoding;
  } catch (error) {
    throw named(answer, error);
  }
}

/** The rows of an answer, which are those of the query that was asked. */
export async function* rowsOf(
  answer: BackendAnswer,
  asked: Pick<LogsqlQuery, 'pipes'>,
  count: { bytes: number },
): AsyncGenerator<readonly BackendRow[]> {
  const contract = new RowContract(asked);
  const rules = { maxBytes: answer.maxRowBytes, check: (row: BackendRow) => contract.check(row) };
  try {
    yield* readRows(counted(answer.chunks(), count), rules);
  } catch (error) {
    throw named(answer, error);
  }
}

function named(answer: BackendAnswer, error: unknown): unknown {
  return error instanceof UnexpectedAnswer ? answer.unexpected(error.message, error) : error;
}
