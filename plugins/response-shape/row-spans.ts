import type { TimeRange } from '../../core/api/request.js';
import type { Pacer } from '../../core/logql/metric/pacer.js';
import { query } from '../../core/logsql/build.js';
import type { LogRow } from '../../core/names/row-reader.js';
import { readInstant, sortRows, type PagesRequest } from './row-pages.js';

/** Rows that a span should have; one with more than `maxRows` is cut and read again. */
const wantedRows = 20_000;
const maxRows = 4 * wantedRows;
const fastestGrowth = 4;

/**
 * Reads all rows of a range in the request's direction, span of time by span of time: the backend sends a span in any order, which
 * costs it no more than reading, and it is put in order here. How long a span is follows from how dense rows were before, at
 * first `seenRows` in `seenNs`.
 */
export async function* readSpans(
  request: PagesRequest,
  { startNs, endNs }: TimeRange,
  seenNs: bigint,
  seenRows: number,
  pacer: Pacer,
): AsyncGenerator<readonly LogRow[]> {
  const isForward = request.direction === 'forward';
  let lengthNs = nextLength(seenNs, seenRows);
  let [from, to] = [startNs, endNs];
  while (from < to) {
    const range = isForward
      ? { startNs: from, endNs: from + lengthNs < to ? from + lengthNs : to }
      : { startNs: to - lengthNs > from ? to - lengthNs : from, endNs: to };
    const isInstant = range.endNs - range.startNs === 1n;
    if (isInstant) {
      yield* readInstant(request, range.startNs);
      lengthNs = BigInt(fastestGrowth);
    } else {
      const rows = await readSpan(request, range, pacer);
      if (rows === undefined) {
        lengthNs = half(range.endNs - range.startNs);
        continue;
      }
      if (rows.length > 0) yield sortRows(rows, request.direction);
      lengthNs = nextLength(range.endNs - range.startNs, rows.length);
    }
    if (isForward) from = range.endNs;
    else to = range.startNs;
  }
}

/** The rows of a span, or undefined when they are too many to be held. */
async function readSpan(
  { filter, upstream, reader }: PagesRequest,
  range: TimeRange,
  pacer: Pacer,
): Promise<LogRow[] | undefined> {
  const rows: LogRow[] = [];
  for await (const batch of upstream.rows({ query: query(filter), range })) {
    if (rows.length + batch.length > maxRows) return undefined;
    for (const row of batch) rows.push(reader.read(row));
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return rows;
}

/** The length in which the wanted number of rows is to be expected. */
function nextLength(lengthNs: bigint, rows: number): bigint {
  const least = wantedRows / fastestGrowth;
  const scaled = (lengthNs * BigInt(wantedRows)) / BigInt(Math.max(rows, least));
  return scaled > 0n ? scaled : 1n;
}

function half(lengthNs: bigint): bigint {
  return lengthNs > 1n ? lengthNs / 2n : 1n;
}
