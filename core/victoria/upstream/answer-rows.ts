import { isAscii, isUtf8, transcode } from 'node:buffer';
import { apiError } from '../../base/errors/table.js';
import type { Steps } from '../../base/pace/steps.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { query, stats, statsFunction, union } from '../logsql/build.js';
import type { BackendAnswer } from './client.js';
import { UnexpectedAnswer } from './decode.js';
import { RowContract } from './row-contract.js';
import { type BackendRow, type BackendValue, columnOf, type StreamsAndNames } from './types.js';

/** Adds the backend and the call to errors of decoding an answer, and counts the items of a list. */
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

/** The rows of an answer, checked against the query. */
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

/** A query that lists streams and names of fields. */
export function queryOfBoth(filter: LogsqlFilter): LogsqlQuery {
  const names = query(filter, [{ kind: 'field_names', as: 'name' }]);
  return query(filter, [stats(['_stream'], statsFunction('count', [], 'hits')), union(names)]);
}

/** Bytes of a stream or name with its count, besides its text. */
const listedBytes = 80;

/** Reads the answer to `queryOfBoth`. */
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

const lineFeed = 0x0a;

/** Checks for rows. */
export interface RowRules {
  /** Maximum length of a row in bytes. */
  readonly maxBytes: number;
  /** Throws for an object that is not a valid row. */
  check(row: BackendRow): void;
}

/**
 * Splits a byte stream into rows, one batch per chunk. Chunks are pulled, so a reader that stops reading stops the backend.
 * @throws UnexpectedAnswer for a line that is not a row: the backend failed while answering, or is not VictoriaLogs
 * @throws ApiError `rowTooLong`
 */
export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  rules: RowRules,
): AsyncGenerator<readonly BackendRow[]> {
  const open = new OpenLine(rules.maxBytes);
  for await (const chunk of chunks) {
    const first = chunk.indexOf(lineFeed);
    if (first < 0) {
      open.append(chunk);
      continue;
    }
    const last = chunk.lastIndexOf(lineFeed);
    const rows: BackendRow[] = [];
    let begin = 0;
    if (open.length > 0) {
      open.append(chunk.subarray(0, first));
      parseLines(open.take(), rules, rows);
      begin = first + 1;
    }
    if (last > begin) parseLines(bodyText(chunk.subarray(begin, last)), rules, rows);
    open.append(chunk.subarray(last + 1));
    if (rows.length > 0) yield rows;
  }
  const rows: BackendRow[] = [];
  parseLines(open.take(), rules, rows);
  if (rows.length > 0) yield rows;
}

const firstBytes = 65_536;

/** The incomplete last line. However small its chunks are, it takes at most twice its length in memory. */
class OpenLine {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  append(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#maxBytes) throw apiError('rowTooLong', { limit: this.#maxBytes });
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstBytes, 2 * length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    part.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  take(): string {
    const text = bodyText(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return text;
  }
}

function parseLines(text: string, rules: RowRules, rows: BackendRow[]): void {
  for (const line of text.split('\n')) {
    if (line.length > rules.maxBytes) throw apiError('rowTooLong', { limit: rules.maxBytes });
    if (line.trim() !== '') rows.push(parseRow(line, rules));
  }
}

function parseRow(line: string, rules: RowRules): BackendRow {
  if (!line.startsWith('{')) throw new UnexpectedAnswer(`a line that is not a row: ${line.trim()}`);
  let row: BackendRow;
  try {
    // An object, because it starts as one; its content is checked next.
    row = JSON.parse(line) as BackendRow;
  } catch (error) {
    throw new UnexpectedAnswer(`a row that is not JSON: ${line}`, { cause: error });
  }
  rules.check(row);
  return row;
}

/** Passes chunks on and adds up their bytes. */
async function* counted(chunks: AsyncIterable<Buffer>, count: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count.bytes += chunk.length;
    yield chunk;
  }
}

/**
 * The text of bytes, equal to `toString('utf8')`. That takes five times as long for non-ASCII bytes as the detour via UTF-16, which
 * requires valid UTF-8.
 */
export function bodyText(bytes: Buffer): string {
  return isAscii(bytes) || !isUtf8(bytes)
    ? bytes.toString('utf8')
    : transcode(bytes, 'utf8', 'utf16le').toString('utf16le');
}
