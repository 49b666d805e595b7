import { ofKey } from '../../base/memory/byte-lru.js';
import type { LogsqlPipe, LogsqlQuery, StatsPipe } from '../logsql/ast.js';
import { timeBucket } from '../logsql/build.js';
import { parseRowTime } from '../names/row-reader.js';
import { parseStreamText } from '../logsql/stream-text.js';
import {
  columnOf,
  type BackendRow,
  type BackendSample,
  type BackendSeries,
  type BackendValue,
  type ListingRequest,
  type StatsRangeRequest,
  type StatsRequest,
  type Upstream,
} from '../upstream/types.js';

type RowsOf = Pick<Upstream, 'rows'>;

/** Answers `stats_query` from the rows of the same query. */
export async function samplesOf(store: RowsOf, request: StatsRequest): Promise<readonly BackendSample[]> {
  const { labels, values } = columnsOf(request.query.pipes);
  const samples: BackendSample[] = [];
  for await (const batch of store.rows(request))
    for (const row of batch)
      for (const name of values)
        samples.push({
          name,
          labels: labelsOf(row, labels),
          value: columnOf(row, name) ?? '',
        });
  return samples;
}

/** Answers `stats_query_range` from rows grouped by time bucket. */
export async function seriesOf(store: RowsOf, request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
  const { query, stepNs, shiftNs } = request;
  const at = query.pipes.findLastIndex(({ kind }) => kind === 'stats');
  const pipes = query.pipes.map((pipe, index) =>
    index === at && pipe.kind === 'stats'
      ? { ...pipe, by: [timeBucket(stepNs, -shiftNs), ...pipe.by] }
      : pipe,
  );
  const { labels, values } = columnsOf(query.pipes);
  const series = new Map<string, BackendSeries & { readonly points: (readonly [number, string])[] }>();
  for await (const batch of store.rows({ query: { ...query, pipes }, range: widened(request) }))
    for (const row of batch) {
      const own = labelsOf(row, labels);
      const seconds = Number(parseRowTime(row._time ?? '') / 1_000_000n) / 1000;
      for (const name of values) {
        const key = JSON.stringify([name, ...own]);
        const found = ofKey(series, key, () => ({ name, labels: own, points: [] }));
        found.points.push([seconds, columnOf(row, name) ?? '']);
      }
    }
  for (const { points } of series.values()) points.sort(([a], [b]) => a - b);
  return [...series.values()];
}

/** The range extended to whole buckets, as the backend counts them. */
export function widened({ range, stepNs, shiftNs }: StatsRangeRequest): StatsRangeRequest['range'] {
  const startNs = range.startNs - modulo(range.startNs - shiftNs, stepNs);
  const endNs = range.endNs + modulo(shiftNs - range.endNs, stepNs);
  return { startNs, endNs };
}

function modulo(value: bigint, by: bigint): bigint {
  return ((value % by) + by) % by;
}

/** Answers a listing from the rows of its query. */
export async function valuesOf(
  store: RowsOf,
  { listing, query, range, field = '' }: ListingRequest,
): Promise<readonly BackendValue[]> {
  const hits = new Map<string, number>();
  const streams = new Map<string, readonly string[]>();
  const ofStream = (row: BackendRow): readonly string[] => {
    const text = row._stream ?? '{}';
    return ofKey(streams, text, () => streamValues(text, listing, field));
  };
  for await (const batch of store.rows({ query, range }))
    for (const row of batch) {
      const values =
        listing === 'field_names'
          ? Object.keys(row)
          : listing === 'field_values'
            ? [columnOf(row, field) ?? '']
            : ofStream(row);
      for (const value of values) hits.set(value, (hits.get(value) ?? 0) + 1);
    }
  return [...hits].map(([value, count]) => ({ value, hits: count }));
}

function streamValues(text: string, listing: ListingRequest['listing'], field: string): readonly string[] {
  if (listing === 'streams') return [text];
  const labels = parseStreamText(text);
  if (listing === 'stream_field_names') return labels.map(([name]) => name);
  return labels.filter(([name]) => name === field).map(([, value]) => value);
}

/**
 * Merges the values of several lists. Row counts of equal values are combined by `join`: the sum, or the maximum if lists may count the
 * same rows.
 */
export function joinValues(
  lists: readonly (readonly BackendValue[])[],
  join: (a: number, b: number) => number,
): readonly BackendValue[] {
  const hits = new Map<string, number>();
  for (const list of lists)
    for (const { value, hits: own } of list) {
      const known = hits.get(value);
      hits.set(value, known === undefined ? own : join(known, own));
    }
  return [...hits].map(([value, count]) => ({ value, hits: count }));
}

function columnsOf(pipes: LogsqlQuery['pipes']): {
  readonly labels: readonly string[];
  readonly values: readonly string[];
} {
  const last = pipes.findLast((pipe: LogsqlPipe): pipe is StatsPipe => pipe.kind === 'stats');
  return {
    labels: last?.by.map(({ field }) => field).filter((name) => name !== '_time') ?? [],
    values: last?.functions.map(({ as }) => as) ?? [],
  };
}

function labelsOf(row: BackendRow, names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.map((name) => [name, columnOf(row, name) ?? ''] as const).filter(([, value]) => value !== ''),
  );
}
