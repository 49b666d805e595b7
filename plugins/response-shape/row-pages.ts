import type { Direction, TimeRange } from '../../core/api/request.js';
import type { LogsqlFilter } from '../../core/logsql/ast.js';
import { query, sort } from '../../core/logsql/build.js';
import type { LogRow, RowReader } from '../../core/names/row-reader.js';
import type { Upstream } from '../../core/plugin/index.js';

export interface PagesRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly direction: Direction;
  /** Rows of the first page; later ones grow. */
  readonly firstPageRows: number;
  readonly upstream: Upstream;
  readonly reader: RowReader;
}

const maxPageRows = 10_000;
const growth = 4;

/**
 * Reads rows newest or oldest first, a page at a time, so that no more than a page is held. Neighbouring pages overlap in the
 * instant where the first was cut: whoever reads them drops repeats.
 */
export async function* readPages(request: PagesRequest): AsyncGenerator<readonly LogRow[]> {
  const isForward = request.direction === 'forward';
  let { startNs, endNs } = request.range;
  let size = request.firstPageRows;
  while (startNs < endNs) {
    const rows = await readPage(request, { startNs, endNs }, size);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (rows.length < size || last === undefined) return;
    const cut = last.timestampNs;
    const isOneInstant = rows[0]?.timestampNs === cut;
    if (isOneInstant) yield* readInstant(request, cut);
    // The rows that share the instant of the cut may not all be on the page, so the next one begins with it.
    if (isForward) startNs = isOneInstant ? cut + 1n : cut;
    else endNs = isOneInstant ? cut : cut + 1n;
    size = Math.min(size * growth, Math.max(maxPageRows, request.firstPageRows));
  }
}

async function readPage(
  { filter, direction, upstream, reader }: PagesRequest,
  range: TimeRange,
  size: number,
): Promise<readonly LogRow[]> {
  const batches =
    direction === 'forward'
      ? upstream.rows({ query: query(filter, [sort(['_time'], size)]), range })
      : upstream.rows({ query: query(filter), range, newest: size });
  const rows: LogRow[] = [];
  for await (const batch of batches) for (const row of batch) rows.push(reader.read(row));
  return rows.sort(direction === 'forward' ? byTime : (a, b) => byTime(b, a));
}

/** More rows than a page holds may share one instant; there they are passed on as they come. */
async function* readInstant(
  { filter, upstream, reader }: PagesRequest,
  instant: bigint,
): AsyncGenerator<readonly LogRow[]> {
  const range = { startNs: instant, endNs: instant + 1n };
  for await (const batch of upstream.rows({ query: query(filter), range }))
    yield batch.map((row) => reader.read(row));
}

function byTime(a: LogRow, b: LogRow): number {
  return a.timestampNs < b.timestampNs ? -1 : a.timestampNs > b.timestampNs ? 1 : 0;
}
