import { apiError } from '../../base/errors/table.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { firstMs, type Columns } from './columns.js';
import type { MetricLimits, SeriesRow } from './types.js';

/** Loki's error for an answer with more series than `max_query_series`. */
export function seriesLimitError(limit: number): ApiError {
  return apiError('seriesLimit', { limit });
}

/**
 * Passes on the rows of a leaf whose series Loki counts between queriers and front end: separately for each window that a range is split
 * into. A partial answer is only cut at the end.
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

/** The number of windows that a range is split into. */
export function countSplits(columns: Columns, splitMs: number): number {
  return new Set(splitsOf(columns, splitMs)).size;
}

/** The window number of each column. */
function splitsOf(columns: Columns, splitMs: number): Float64Array {
  const start = firstMs(columns);
  const isSplit = columns.kind === 'range' && splitMs > 0;
  return new Float64Array(columns.count).map((_zero, column) =>
    isSplit ? Math.floor((start + column * columns.stepMs) / splitMs) : 0,
  );
}
