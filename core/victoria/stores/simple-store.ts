import { timeOrder } from '../../base/order.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { logRowBytes } from '../../base/memory/byte-lru.js';
import { atPace, Pacer, sortSteps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe } from '../logsql/ast.js';
import { limit, query, selectionOf, united, where } from '../logsql/build.js';
import { parseRowTime } from '../names/row-reader.js';
import { isRefusal } from '../upstream/failures.js';
import type { BackendRow, RowsRequest, Upstream } from '../upstream/types.js';
import { samplesOf, seriesOf, valuesOf } from './answers-of-rows.js';
import { evaluated } from './evaluated.js';
import { byRows, nearestAsked, type Nearest } from './pipe-parts.js';

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
export function simpleStore(store: Upstream, memory: MemoryAccount): Upstream {
  /** A view whose pipes are evaluated here. */
  const here: Pick<Upstream, 'rows'> = {
    rows: ({ query: { filter, pipes }, range }) => evaluated(plainRows(store, filter, range), pipes),
  };
  /** Passes a call on, or answers it here if the backend does not support its pipes. */
  const askedOf =
    <Request extends Pick<RowsRequest, 'query'>, Value>(
      ask: (request: Request) => Promise<Value>,
      answerOf: (rows: typeof here, request: Request) => Promise<Value>,
    ) =>
    async (request: Request): Promise<Value> => {
      const { pipes } = request.query;
      try {
        if (pipes.length === simplePart(pipes)) return await ask(request);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
      return answerOf(here, request);
    };
  async function* rows(request: RowsRequest): Batches {
    for (const one of united(request.query)) yield* rowsOf({ ...request, query: one });
  }
  function rowsOf(request: RowsRequest): Batches {
    const { query: one, range, newest } = request;
    const { filter, pipes } = one;
    const nearest = nearestAsked(request);
    if (nearest !== undefined) {
      const read = (slice: TimeRange): Batches =>
        evaluated(plainRows(store, filter, slice), byRows(pipes).leading);
      return nearestRows(read, range, nearest, memory);
    }
    if (newest !== undefined) return evaluated(rowsOf({ query: one, range }), [limit(newest)]);
    const simple = simplePart(pipes);
    if (simple === 0) return here.rows({ query: one, range });
    const part = store.rows({ query: query(filter, pipes.slice(0, simple)), range });
    return unlessRefused(evaluated(part, pipes.slice(simple)), () => here.rows({ query: one, range }));
  }
  return {
    owner: store.owner,
    unites: false,
    rows,
    stats: askedOf((request) => store.stats(request), samplesOf),
    statsRange: askedOf((request) => store.statsRange(request), seriesOf),
    list: askedOf((request) => store.list(request), valuesOf),
    tail: (request) => store.tail(request),
    deletion: (request) => store.deletion(request),
    until: (signal) => simpleStore(store.until?.(signal) ?? store, memory),
    taggedWith: (tag) => simpleStore(store.taggedWith?.(tag) ?? store, memory),
  };
}

/** All rows of a filter, in no particular order; if the filter is rejected, the rows of its streams, filtered here. */
function plainRows(store: Upstream, filter: LogsqlFilter, range: TimeRange): Batches {
  const selection = selectionOf(filter);
  const rows = store.rows({ query: query(filter), range });
  if (selection === filter) return rows;
  return unlessRefused(rows, () =>
    evaluated(store.rows({ query: query(selection), range }), [where(filter)]),
  );
}

/** The newest or oldest rows, read in slices of the range from that end. */
async function* nearestRows(
  read: (slice: TimeRange) => Batches,
  range: TimeRange,
  { direction, count }: Nearest,
  memory: MemoryAccount,
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
    const found = await sortedRows(read(slice), { direction, count: missing }, memory);
    missing -= found.length;
    if (found.length > 0) yield found;
    lengthNs = found.length > 0 ? hourNs : lengthNs * 2n < maxSliceNs ? lengthNs * 2n : maxSliceNs;
  }
}

/** The first rows in an order; not many more than these are held. */
async function sortedRows(
  batches: Batches,
  { direction, count }: Nearest,
  memory: MemoryAccount,
): Promise<readonly BackendRow[]> {
  const compare = direction === 'forward' ? byTime : (a: Timed, b: Timed): number => byTime(b, a);
  const pacer = new Pacer();
  let held: Timed[] = [];
  let bytes = 0;
  const cut = async (): Promise<void> => {
    held = await atPace(sortSteps(held, compare), pacer);
    let freed = 0;
    for (const dropped of held.splice(count)) freed += dropped.bytes;
    bytes -= freed;
    memory.release(freed, 'log lines');
  };
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        const timed = {
          row,
          ns: parseRowTime(row._time ?? ''),
          bytes: logRowBytes({ line: row._msg ?? '' }),
        };
        memory.charge(timed.bytes, 'log lines');
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
    memory.release(bytes, 'log lines');
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
