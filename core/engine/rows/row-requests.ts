import { timeOrder } from '../../base/order.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Direction } from '../../wire/api/request.js';
import type { Memory } from '../../base/memory/byte-lru.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { Pacer } from '../../base/pace/pacer.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query, sort } from '../../victoria/logsql/build.js';
import type { LogRow, RowReader } from '../../victoria/names/row-reader.js';
import { atPace, sortSteps } from '../../base/pace/steps.js';
import type { RowsRequest } from '../../victoria/upstream/types.js';
import type { RowsUpstream } from './timed-rows.js';

export interface PagesRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly direction: Direction;
  /** Number of rows of the first page; later pages grow. */
  readonly firstPageRows: number;
  readonly upstream: RowsUpstream;
  readonly reader: RowReader;
  readonly signal: AbortSignal;
  /** Charged for the memory of rows. */
  readonly memory: MemoryAccount;
  /** Number of entries that the answer still needs, called between reads. Without it, reads grow. */
  readonly missing?: () => number;
  /** Rows per nanosecond by selection and by filter, which determine the size of a read. */
  readonly densities?: Memory<number>;
}

/** Requests the given number of newest or oldest rows. */
export function pageRequest(
  filter: LogsqlFilter,
  range: TimeRange,
  direction: Direction,
  size: number,
): RowsRequest {
  return direction === 'forward'
    ? { query: query(filter, [sort(['_time'], size)]), range }
    : { query: query(filter), range, newest: size };
}

/** Reads all rows of one timestamp, which may be more than a page; they are passed on as they arrive. */
export async function* readInstant(
  { filter, upstream, reader }: PagesRequest,
  instant: bigint,
): AsyncGenerator<readonly LogRow[]> {
  const range = { startNs: instant, endNs: instant + 1n };
  for await (const batch of upstream.rows({ query: query(filter), range }))
    yield batch.map((row) => reader.read(row));
}

/** Sorts rows by direction, in place. */
export function sortRows(rows: LogRow[], direction: Direction, pacer: Pacer): Promise<readonly LogRow[]> {
  return atPace(sortSteps(rows, direction === 'forward' ? byTime : (a, b) => byTime(b, a)), pacer);
}

function byTime(a: LogRow, b: LogRow): number {
  return timeOrder(a.timestampNs, b.timestampNs);
}

/** Recognizes repeated items of the same timestamp, in items that come in time order. */
export class Instant<Item> {
  readonly #identityOf: (item: Item) => string;
  readonly #seen = new Set<string>();
  #first: { readonly timestampNs: bigint; readonly item: Item } | undefined;

  constructor(identityOf: (item: Item) => string) {
    this.#identityOf = identityOf;
  }

  isRepeated(timestampNs: bigint, item: Item): boolean {
    const first = this.#first;
    if (first?.timestampNs !== timestampNs) {
      this.#first = { timestampNs, item };
      if (this.#seen.size > 0) this.#seen.clear();
      return false;
    }
    // Most timestamps have one row, so identities are only computed from the second row on.
    if (this.#seen.size === 0) this.#seen.add(this.#identityOf(first.item));
    const identity = this.#identityOf(item);
    if (this.#seen.has(identity)) return true;
    this.#seen.add(identity);
    return false;
  }
}
