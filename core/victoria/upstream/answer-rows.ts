import type { Steps } from '../../base/pace/steps.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { query, stats, statsFunction, union } from '../logsql/build.js';
import type { BackendAnswer } from './client.js';
import { UnexpectedAnswer } from './decode.js';
import { counted, readRows } from './ndjson.js';
import { RowContract } from './row-contract.js';
import { columnOf, type BackendRow, type BackendValue, type StreamsAndNames } from './types.js';

/** Adds the backend and the call to the errors of decoding an answer, and counts the items of a list. */
export function* reading<Value>(
  answer: BackendAnswer,
  decoding: Steps<Value>,
  count: { rows: number },
): Steps<Value> {
  try {
    const value = yield* decoding;
    if (Array.isArray(value)) count.rows ||= value.length;
    return value;
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

/** Lists streams and names of fields. */
export function queryOfBoth(filter: LogsqlFilter): LogsqlQuery {
  const names = query(filter, [{ kind: 'field_names', as: 'name' }]);
  return query(filter, [stats(['_stream'], statsFunction('count', [], 'hits')), union(names)]);
}

/** Bytes of a stream or name with its count, besides its text. */
const listedBytes = 80;

/** The answer to that. */
export async function readBoth(
  batches: AsyncIterable<readonly BackendRow[]>,
  memory: MemoryAccount | undefined,
): Promise<StreamsAndNames> {
  const streams: BackendValue[] = [];
  const names: BackendValue[] = [];
  for await (const batch of batches)
    for (const row of batch) {
      const name = columnOf(row, 'name');
      const value = name ?? row._stream ?? '{}';
      memory?.charge(2 * value.length + listedBytes, 'a listing of the backend');
      (name === undefined ? streams : names).push({ value, hits: Number(columnOf(row, 'hits')) });
    }
  return { streams, names };
}
