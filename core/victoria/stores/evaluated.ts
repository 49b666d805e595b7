import { apiError } from '../../base/errors/table.js';
import { Pacer } from '../../base/pace/steps.js';
import type { LogsqlPipe } from '../logsql/ast.js';
import { MemoryBudgetError } from '../logsql/errors.js';
import { operatorOf, compilePipes } from '../logsql/ops/compile.js';
import type { RowView } from '../logsql/row.js';
import { parseRowTime } from '../names/row-reader.js';
import { columnOf, type BackendRow } from '../upstream/types.js';

/** Maximum number of bytes that one pipe may hold. */
const maxPipeBytes = 64 * 1024 * 1024;
const batchRows = 1000;

/** Evaluates pipes over rows as VictoriaLogs would. Reading stops when the pipes need no more rows. */
export async function* evaluated(
  batches: AsyncIterable<readonly BackendRow[]>,
  pipes: readonly LogsqlPipe[],
): AsyncGenerator<readonly BackendRow[]> {
  if (pipes.length === 0) {
    yield* batches;
    return;
  }
  let made: BackendRow[] = [];
  const collect = (row: RowView): boolean => made.push(writtenRow(row)) > 0;
  const context = { memoryLimitBytes: maxPipeBytes };
  const chain = compilePipes(pipes, (pipe, next) => operatorOf(pipe, context, next), collect);
  const pacer = new Pacer();
  try {
    let wantsMore = true;
    for await (const batch of batches) {
      for (const row of batch) {
        wantsMore = chain.push(new ReadRow(row));
        if (!wantsMore) break;
        const pause = pacer.due();
        if (pause !== undefined) await pause;
      }
      if (made.length > 0) yield made;
      made = [];
      if (!wantsMore) break;
    }
    chain.finish();
  } catch (error) {
    if (error instanceof MemoryBudgetError)
      throw apiError('coldTooMuch', { limit: `${maxPipeBytes}` }, { cause: error });
    throw error;
  }
  for (let at = 0; at < made.length; at += batchRows) yield made.slice(at, at + batchRows);
}

/** A row as received. */
class ReadRow implements RowView {
  readonly #row: BackendRow;
  #timeNs: bigint | undefined;

  constructor(row: BackendRow) {
    this.#row = row;
  }

  get timeNs(): bigint {
    const { _time } = this.#row;
    return (this.#timeNs ??= _time === undefined || _time === '' ? 0n : parseRowTime(_time));
  }

  get(field: string): string {
    return columnOf(this.#row, field) ?? '';
  }

  fieldNames(): Iterable<string> {
    return Object.keys(this.#row);
  }
}

function writtenRow(row: RowView): BackendRow {
  // Names come from strangers: without a prototype, all of them are plain keys.
  const made = Object.create(null) as Record<string, string>;
  for (const name of row.fieldNames()) {
    const value = row.get(name);
    if (value !== '') made[name] = value;
  }
  return made;
}
