import { Pacer } from '../../base/pace/steps.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import {
  pageRequest,
  type PagesRequest,
  readHeld,
  readInstant,
  readSpans,
  rememberDensity,
  sortRows,
  spanBehind,
  spanOfFirstRows,
  wholeSpan,
} from './row-spans.js';

const maxPageRows = 10_000;
const growth = 4;
/** Rows per batch; few enough that processing them does not block other requests. */
const givenRows = 250;

/**
 * Reads rows newest or oldest first, one page or time span at a time to bound memory, and yields them in batches. Adjacent pages overlap in
 * the timestamp at which the first was cut, so callers must drop repeated rows.
 */
export async function* readPages(request: PagesRequest): AsyncGenerator<readonly LogRow[]> {
  const pacer = new Pacer(request.signal);
  yield* inBatches(wholePages(request, pacer), pacer);
}

/** Reads all rows of a range, for callers that want most of them, with one call unless there are too many. No row is repeated. */
export async function* readAll(
  request: Omit<PagesRequest, 'firstPageRows'>,
): AsyncGenerator<readonly LogRow[]> {
  const pacer = new Pacer(request.signal);
  const { range } = request;
  yield* inBatches(readSpans({ ...request, firstPageRows: 0 }, range, wholeSpan(range), pacer), pacer);
}

async function* inBatches(
  pages: AsyncIterable<readonly LogRow[]>,
  pacer: Pacer,
): AsyncGenerator<readonly LogRow[]> {
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += givenRows) {
      yield page.length <= givenRows ? page : page.slice(at, at + givenRows);
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
}

async function* wholePages(request: PagesRequest, pacer: Pacer): AsyncGenerator<readonly LogRow[]> {
  const isForward = request.direction === 'forward';
  const firstSpan = await spanOfFirstRows(request);
  if (firstSpan !== undefined) {
    yield* readSpans(request, request.range, firstSpan, pacer);
    return;
  }
  let { startNs, endNs } = request.range;
  let size = request.firstPageRows;
  while (startNs < endNs) {
    const asked = pageRequest(request.filter, { startNs, endNs }, request.direction, size);
    const { rows: page, bytes } = await readHeld(request, asked, pacer);
    const rows = await sortRows(page, request.direction, pacer);
    if (rows.length > 0) yield rows;
    request.memory.release(bytes, 'log lines');
    const [first, last] = [rows[0], rows.at(-1)];
    if (rows.length < size || first === undefined || last === undefined) {
      rememberDensity(request, endNs - startNs, rows.length);
      return;
    }
    const cut = last.timestampNs;
    rememberDensity(request, isForward ? cut - startNs : endNs - cut, rows.length);
    const isOneInstant = first.timestampNs === cut;
    if (isOneInstant) yield* readInstant(request, cut);
    // Not all rows with the last timestamp may be on this page, so the next page starts with it.
    if (isForward) startNs = isOneInstant ? cut + 1n : cut;
    else endNs = isOneInstant ? cut : cut + 1n;
    if (size >= maxPageRows) {
      // Many rows were read and still too few matched. All rows must be read then, and selecting the newest of them each time would cost
      // more.
      const pageNs = isForward ? cut - first.timestampNs : first.timestampNs - cut;
      yield* readSpans(request, { startNs, endNs }, spanBehind(pageNs + 1n, rows.length), pacer);
      return;
    }
    size = Math.min(size * growth, maxPageRows);
  }
}
