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
      const read = await readSpan(request, range, pacer);
      const rows = sortRows(read.rows, request.direction);
      if (!read.isWhole) {
        lengthNs = shorterLength(range, rows[wantedRows]?.timestampNs ?? range.startNs, isForward);
        continue;
      }
      if (rows.length > 0) yield rows;
      lengthNs = nextLength(range.endNs - range.startNs, rows.length);
    }
    if (isForward) from = range.endNs;
    else to = range.startNs;
  }
}

/** The rows of a span; some of them when they are too many to be held. */
async function readSpan(
  { filter, upstream, reader }: PagesRequest,
  range: TimeRange,
  pacer: Pacer,
): Promise<{ readonly rows: LogRow[]; readonly isWhole: boolean }> {
  const rows: LogRow[] = [];
  for await (const batch of upstream.rows({ query: query(filter), range })) {
    if (rows.length + batch.length > maxRows) return { rows, isWhole: false };
    for (const row of batch) rows.push(reader.read(row));
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return { rows, isWhole: true };
}

/** The length in which the wanted number of rows is to be expected. */
function nextLength(lengthNs: bigint, rows: number): bigint {
  const least = wantedRows / fastestGrowth;
  const scaled = (lengthNs * BigInt(wantedRows)) / BigInt(Math.max(rows, least));
  return scaled > 0n ? scaled : 1n;
}

/** A shorter span, which ends with the instant at which so many rows were seen, or before it when that is the whole. */
function shorterLength({ startNs, endNs }: TimeRange, cut: bigint, isForward: boolean): bigint {
  const wholeNs = endNs - startNs;
  const lengthNs = isForward ? cut + 1n - startNs : endNs - cut;
  return lengthNs < wholeNs ? lengthNs : wholeNs - 1n;
}
