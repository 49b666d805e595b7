import { timeOrder } from '../../base/order.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { CallTag } from '../../base/trace.js';
import { logRowBytes } from '../../base/memory/byte-lru.js';
import { atPace, Pacer, sortSteps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, LogsqlQuery } from '../logsql/ast.js';
import { limit, query, selectionOf, united, where } from '../logsql/build.js';
import { parseRowTime } from '../names/row-reader.js';
import { isRefusal } from '../upstream/failures.js';
import type {
  BackendRow,
  BackendSample,
  BackendSeries,
  BackendValue,
  Deletion,
  DeletionRequest,
  ListingRequest,
  RowsRequest,
  StatsRangeRequest,
  StatsRequest,
  TailRowsRequest,
  Upstream,
} from '../upstream/types.js';
import { samplesOf, seriesOf, valuesOf } from './answers-of-rows.js';
import { evaluated } from './evaluated.js';
import { byRows, keepTime, oldestOf, type Direction } from './pipe-parts.js';

type Batches = AsyncIterable<readonly BackendRow[]>;

const hourNs = 3_600_000_000_000n;
/** Maximum length of a slice; slices grow while there are no rows. */
const maxSliceNs = 24n * hourNs;
/** Number of rows held in addition to the wanted ones before the surplus is dropped. */
const spareRows = 1000;

/**
 * A backend that supports few filters and few pipes, and cannot sort. Simple calls are passed to it; the newest and oldest rows are
 * searched for in time slices, and calls that it rejects are evaluated here over its rows.
 */
export class SimpleStore implements Upstream {
  readonly unites = false;
  readonly #store: Upstream;
  readonly #memory: MemoryAccount;

  constructor(store: Upstream, memory: MemoryAccount) {
    this.#store = store;
    this.#memory = memory;
  }

  get owner(): string {
    return this.#store.owner;
  }

  async *rows(request: RowsRequest): Batches {
    for (const one of united(request.query)) yield* this.#rowsOf({ ...request, query: one });
  }

  #rowsOf(request: RowsRequest): Batches {
    const { range, newest } = request;
    const { filter, pipes } = request.query;
    const { leading, others } = byRows(pipes);
    const [first, ...after] = others;
    if (newest !== undefined)
      return first === undefined && keepTime(leading)
        ? this.#nearest(filter, leading, range, 'backward', newest)
        : evaluated(this.rows({ query: request.query, range }), [limit(newest)]);
    const oldest = oldestOf(first);
    if (oldest !== undefined && after.length === 0 && keepTime(leading))
      return this.#nearest(filter, leading, range, 'forward', oldest);
    const here = (): Batches => evaluated(this.#plain(filter, range), pipes);
    if (pipes.length === 0) return here();
    const asked = simplePart(pipes);
    return asked === 0
      ? here()
      : unlessRefused(
          evaluated(
            this.#store.rows({ query: query(filter, pipes.slice(0, asked)), range }),
            pipes.slice(asked),
          ),
          here,
        );
  }

  async stats(request: StatsRequest): Promise<readonly BackendSample[]> {
    return this.#asked(
      isSimple(request.query),
      () => this.#store.stats(request),
      () => samplesOf(this.#here(), request),
    );
  }

  async statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
    return this.#asked(
      isSimple(request.query),
      () => this.#store.statsRange(request),
      () => seriesOf(this.#here(), request),
    );
  }

  async list(request: ListingRequest): Promise<readonly BackendValue[]> {
    return this.#asked(
      isSimple(request.query),
      () => this.#store.list(request),
      () => valuesOf(this.#here(), request),
    );
  }

  tail(request: TailRowsRequest): Promise<Batches> {
    return this.#store.tail(request);
  }

  deletion(request: DeletionRequest): Deletion {
    return this.#store.deletion(request);
  }

  until(signal: AbortSignal): Upstream {
    return new SimpleStore(this.#store.until?.(signal) ?? this.#store, this.#memory);
  }

  taggedWith(tag: CallTag): Upstream {
    return new SimpleStore(this.#store.taggedWith?.(tag) ?? this.#store, this.#memory);
  }

  async #asked<Value>(
    isAsked: boolean,
    ask: () => Promise<Value>,
    here: () => Promise<Value>,
  ): Promise<Value> {
    if (!isAsked) return here();
    try {
      return await ask();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return here();
    }
  }

  /** A view whose pipes are evaluated here. */
  #here(): Pick<Upstream, 'rows'> {
    return { rows: ({ query: { filter, pipes }, range }) => evaluated(this.#plain(filter, range), pipes) };
  }

  /** All rows of a filter, in no particular order; if the filter is rejected, the rows of its streams, filtered here. */
  #plain(filter: LogsqlFilter, range: TimeRange): Batches {
    const selection = selectionOf(filter);
    const rows = this.#store.rows({ query: query(filter), range });
    if (selection === filter) return rows;
    return unlessRefused(rows, () =>
      evaluated(this.#store.rows({ query: query(selection), range }), [where(filter)]),
    );
  }

  /** The newest or oldest rows, read in slices of the range from that end. */
  async *#nearest(
    filter: LogsqlFilter,
    pipes: readonly LogsqlPipe[],
    range: TimeRange,
    direction: Direction,
    count: number,
  ): AsyncGenerator<readonly BackendRow[]> {
    let { startNs, endNs } = range;
    let lengthNs = hourNs;
    let missing = count;
    while (startNs < endNs && missing > 0) {
      const slice =
        direction === 'forward'
          ? { startNs, endNs: startNs + lengthNs < endNs ? startNs + lengthNs : endNs }
          : { startNs: endNs - lengthNs > startNs ? endNs - lengthNs : startNs, endNs };
      if (direction === 'forward') startNs = slice.endNs;
      else endNs = slice.startNs;
      const rows = evaluated(this.#plain(filter, slice), pipes);
      const found = await this.#sorted(rows, direction, missing);
      missing -= found.length;
      if (found.length > 0) yield found;
      lengthNs = found.length > 0 ? hourNs : lengthNs * 2n < maxSliceNs ? lengthNs * 2n : maxSliceNs;
    }
  }

  /** The first rows in an order; not many more than these are held. */
  async #sorted(batches: Batches, direction: Direction, count: number): Promise<readonly BackendRow[]> {
    const compare = direction === 'forward' ? byTime : (a: Timed, b: Timed): number => byTime(b, a);
    const pacer = new Pacer();
    let held: Timed[] = [];
    let bytes = 0;
    const cut = async (): Promise<void> => {
      held = await atPace(sortSteps(held, compare), pacer);
      let freed = 0;
      for (const dropped of held.splice(count)) freed += dropped.bytes;
      bytes -= freed;
      this.#memory.release(freed, 'log lines');
    };
    try {
      for await (const batch of batches) {
        for (const row of batch) {
          const timed = {
            row,
            ns: parseRowTime(row._time ?? ''),
            bytes: logRowBytes({ line: row._msg ?? '' }),
          };
          this.#memory.charge(timed.bytes, 'log lines');
          bytes += timed.bytes;
          held.push(timed);
        }
        if (held.length > 2 * count + spareRows) await cut();
        const pause = pacer.due();
        if (pause !== undefined) await pause;
      }
      await cut();
      return held.map(({ row }) => row);
    } finally {
      this.#memory.release(bytes, 'log lines');
    }
  }
}

interface Timed {
  readonly row: BackendRow;
  readonly ns: bigint;
  readonly bytes: number;
}

function byTime(a: Timed, b: Timed): number {
  return timeOrder(a.ns, b.ns);
}

/** Number of leading pipes that the backend supports: columns, and statistics without conditions. */
function simplePart(pipes: readonly LogsqlPipe[]): number {
  const [first] = pipes;
  if (first?.kind === 'fields') return 1;
  return first?.kind === 'stats' && first.functions.every(({ condition }) => condition === undefined) ? 1 : 0;
}

function isSimple({ pipes }: LogsqlQuery): boolean {
  return pipes.length === simplePart(pipes);
}

/** Yields rows, or those of the alternative if the call is rejected before the first row. */
async function* unlessRefused(rows: Batches, others: () => Batches): AsyncGenerator<readonly BackendRow[]> {
  let hasBegun = false;
  try {
    for await (const batch of rows) {
      hasBegun = true;
      yield batch;
    }
    return;
  } catch (error) {
    if (hasBegun || !isRefusal(error)) throw error;
  }
  yield* others();
}
