import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes } from '../../base/memory/byte-lru.js';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { query, selectionOf, stats, statsFunction } from '../logsql/build.js';
import { digestOfColumns } from '../names/entry-identity.js';
import type { BackendRow, Upstream } from '../upstream/types.js';

/** Maximum number of rows that are compared at once. */
const pieceRows = 50_000;
const maxPieces = 256;
/** Bytes of a digest of 20 characters with its map entry. */
const keyBytes = entryBytes + 40;

/** Two stores; a row may be in either or in both. */
export interface Stores {
  readonly hot: Upstream;
  readonly cold: Upstream;
  readonly memory: MemoryAccount;
}

/** All rows of a range, in no particular order; rows in both stores are yielded once. */
export async function* unionRows(
  stores: Stores,
  filter: LogsqlFilter,
  range: TimeRange,
): AsyncGenerator<readonly BackendRow[]> {
  for (const piece of await piecesOf(stores.hot, filter, range)) {
    const asked = { query: query(filter), range: piece };
    yield* onceEach(stores.hot.rows(asked), stores.cold.rows(asked), stores.memory);
  }
}

/**
 * The rows of two stores, each row as often as in the store that has it more often, since a store can contain real repeats. Rows are equal
 * if all their fields are.
 */
export async function* onceEach(
  first: AsyncIterable<readonly BackendRow[]>,
  second: AsyncIterable<readonly BackendRow[]>,
  memory: MemoryAccount,
): AsyncGenerator<readonly BackendRow[]> {
  /** Surplus occurrences of rows in the first store over those in the second. */
  const counts = new Map<string, number>();
  let held = 0;
  const pacer = new Pacer();
  try {
    for await (const batch of first) {
      await eachAtPace(batch, pacer, (row) => {
        const key = digestOfColumns(row);
        const count = counts.get(key);
        if (count === undefined) {
          memory.charge(keyBytes, 'log lines');
          held += keyBytes;
        }
        counts.set(key, (count ?? 0) + 1);
      });
      yield batch;
    }
    for await (const batch of second) {
      const others: BackendRow[] = [];
      await eachAtPace(batch, pacer, (row) => {
        const key = digestOfColumns(row);
        const count = counts.get(key) ?? 0;
        if (count > 0) counts.set(key, count - 1);
        else others.push(row);
      });
      if (others.length > 0) yield others;
    }
  } finally {
    memory.release(held, 'log lines');
  }
}

/** Splits a range into pieces with a bounded number of rows, assuming that rows are spread evenly. */
async function piecesOf(
  hot: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
): Promise<readonly TimeRange[]> {
  const counting = stats([], statsFunction('count', [], 'rows'));
  const [sample] = await hot.stats({
    query: query(selectionOf(filter), [counting]),
    range,
    isPreflight: true,
  });
  const { startNs, endNs } = range;
  const count = BigInt(Math.min(maxPieces, Math.ceil(Number(sample?.value ?? 0) / pieceRows)));
  if (count < 2n) return [range];
  const lengthNs = (endNs - startNs) / count + 1n;
  const pieces: TimeRange[] = [];
  for (let fromNs = startNs; fromNs < endNs; fromNs += lengthNs)
    pieces.push({ startNs: fromNs, endNs: fromNs + lengthNs < endNs ? fromNs + lengthNs : endNs });
  return pieces;
}
