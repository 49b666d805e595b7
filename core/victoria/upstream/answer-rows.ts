import { isAscii, isUtf8, transcode } from 'node:buffer';
import { apiError } from '../../base/errors/table.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { Steps } from '../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe, LogsqlQuery, StatsName } from '../logsql/ast.js';
import { query, stats, statsFunction, union, united, isListed } from '../logsql/build.js';
import type { BackendAnswer } from './client.js';
import { shown, UnexpectedAnswer } from './decode.js';
import { type BackendRow, type BackendValue, columnOf, type StreamsAndNames } from './types.js';

/** Columns that every row of an answer contains. */
interface Contract {
  readonly hasTime: boolean;
  /** Statistics columns; undefined if the rows are not statistics (any more). */
  readonly columns: readonly string[] | undefined;
  /** Columns with counts of rows or bytes, which the backend never omits. */
  readonly counts: readonly string[];
}

const counting: ReadonlySet<StatsName> = new Set(['count', 'count_uniq', 'count_uniq_hash', 'sum_len']);
const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const wholeNumber = /^\d{1,20}$/;

/** Checks the rows of a query's answer; otherwise, unrelated JSON objects would pass as rows without fields. */
export class RowContract {
  /** Contracts of the query and of the queries that it unites, whose rows come in any order. */
  readonly #contracts: readonly [Contract, ...Contract[]];

  constructor(asked: Pick<LogsqlQuery, 'pipes'>) {
    const [first = asked, ...others] = united(asked);
    this.#contracts = [contractOf(first), ...others.map(contractOf)];
  }

  /** @throws UnexpectedAnswer */
  check(row: BackendRow): void {
    // This runs for every row. The names were given by the row itself, so their presence need not be checked again.
    const columns = row as Readonly<Record<string, unknown>>;
    for (const name in columns)
      if (typeof columns[name] !== 'string') throw unexpectedValue(name, columns[name]);
    const [first, ...others] = this.#contracts;
    const problem = problemOf(row, first);
    if (problem === undefined || others.some((contract) => problemOf(row, contract) === undefined)) return;
    throw new UnexpectedAnswer(problem);
  }

  /**
   * Checks the values of one group of stats_query or stats_query_range.
   * @throws UnexpectedAnswer
   */
  checkColumn(name: string, values: Iterable<string>): void {
    const [{ columns, counts }] = this.#contracts;
    if (columns?.includes(name) === false)
      throw new UnexpectedAnswer(`a column ${shown(name)} that was not requested`);
    if (!counts.includes(name)) return;
    for (const value of values) {
      const problem = problemOfCount(name, value);
      if (problem !== undefined) throw new UnexpectedAnswer(problem);
    }
  }
}

/** The first violation of the contract by a row. */
function problemOf(row: BackendRow, { hasTime, counts }: Contract): string | undefined {
  if (hasTime && !timeShape.test(row._time ?? '')) return `_time of a row is ${shown(row._time)}`;
  for (const name of counts) {
    const problem = problemOfCount(name, columnOf(row, name));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfCount(name: string, value: string | undefined): string | undefined {
  return value === undefined || !wholeNumber.test(value)
    ? `${shown(name)} is ${shown(value)}, not a count`
    : undefined;
}

function unexpectedValue(name: string, value: unknown): UnexpectedAnswer {
  return new UnexpectedAnswer(`the field ${shown(name)} of a row is ${shown(value)}, not a string`);
}

const nothing: Contract = { hasTime: false, columns: undefined, counts: [] };

function contractOf({ pipes }: Pick<LogsqlQuery, 'pipes'>): Contract {
  return pipes.reduce(contractAfter, { hasTime: true, columns: undefined, counts: [] });
}

/** The contract of rows after a pipe, given the contract before it. */
function contractAfter(contract: Contract, pipe: LogsqlPipe): Contract {
  switch (pipe.kind) {
    case 'stats':
      return {
        hasTime: pipe.by.some(({ field }) => field === '_time'),
        columns: pipe.functions.map(({ as }) => as),
        counts: pipe.functions.filter(({ name }) => counting.has(name)).map(({ as }) => as),
      };
    case 'field_names':
      return { hasTime: false, columns: undefined, counts: ['hits'] };
    case 'fields':
      return {
        ...contract,
        hasTime: contract.hasTime && isListed(pipe.fields, '_time'),
        counts: contract.counts.filter((name) => isListed(pipe.fields, name)),
      };
    case 'filter':
    case 'limit':
    case 'sort':
      return contract;
    default:
      // These pipes may set or remove any field.
      return nothing;
  }
}

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
