import { apiError } from '../../base/errors/table.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { firstMs, type Columns } from './columns.js';
import type { MetricLimits, SeriesRow } from './types.js';

/** Loki's refusal of an answer with more series than `max_query_series`. */
export function seriesLimitError(limit: number): ApiError {
  return apiError('seriesLimit', { limit });
}

/**
 * Passes the rows of a leaf on whose series Loki counts on their way to its front end: by the windows that a range is split
 * into, each on its own. A partial answer is cut at the end only.
 * @throws ApiError `seriesLimit`
 */
export function* cappedRows(
  rows: Iterable<SeriesRow>,
  columns: Columns,
  { maxSeries, isPartial, splitMs }: MetricLimits,
): Generator<SeriesRow> {
  if (maxSeries === 0 || isPartial) {
    yield* rows;
    return;
  }
  const splits = splitsOf(columns, splitMs);
  const counts = new Map<number, number>();
  for (const row of rows) {
    let last = -1;
    for (let column = 0; column < columns.count; column += 1) {
      const split = splits[column] ?? 0;
      if (row.present[column] !== 1 || split === last) continue;
      last = split;
      const count = (counts.get(split) ?? 0) + 1;
      if (count > maxSeries) throw seriesLimitError(maxSeries);
      counts.set(split, count);
    }
    yield row;
  }
}

/** How many windows a range is split into. */
export function countSplits(columns: Columns, splitMs: number): number {
  return new Set(splitsOf(columns, splitMs)).size;
}

/** The number of the window that each column is in. */
function splitsOf(columns: Columns, splitMs: number): Float64Array {
  const start = firstMs(columns);
  const isSplit = columns.kind === 'range' && splitMs > 0;
  return new Float64Array(columns.count).map((_zero, column) =>
    isSplit ? Math.floor((start + column * columns.stepMs) / splitMs) : 0,
  );
}
