import type { AskedQueries, AskedQuery } from './wire.js';

/** The columns by which queries can be sorted, the largest first. */
export const askedColumns = ['total', 'count', 'mean', 'longest', 'errors', 'bytes'] as const;
export type AskedColumn = (typeof askedColumns)[number];

export function columnValue(column: AskedColumn, asked: AskedQuery): number {
  switch (column) {
    case 'total':
      return asked.total_ms;
    case 'count':
      return asked.count;
    case 'mean':
      return asked.count === 0 ? 0 : asked.total_ms / asked.count;
    case 'longest':
      return asked.max_ms;
    case 'errors':
      return asked.errors;
    case 'bytes':
      return asked.backend_bytes;
  }
}

/** The queries of all lists, each once, with a text in them, in the order of a column. */
export function sortedQueries(
  asked: AskedQueries,
  column: AskedColumn,
  search: string,
): readonly AskedQuery[] {
  const lists = [
    asked.top_by_total_time,
    asked.top_by_latency,
    asked.top_by_frequency,
    asked.top_by_bytes_read,
    asked.top_by_errors,
  ];
  const all = new Map(lists.flatMap((list) => list.map((one) => [one.fingerprint, one])));
  const wanted = search.trim().toLowerCase();
  return [...all.values()]
    .filter(({ query, endpoint }) => `${endpoint} ${query}`.toLowerCase().includes(wanted))
    .filter((one) => column !== 'errors' || one.errors > 0)
    .sort((a, b) => columnValue(column, b) - columnValue(column, a));
}

const plannedEndpoints: ReadonlySet<string> = new Set([
  'query_range',
  'query',
  'legacy_query',
  'ui_query_range',
  'tail',
  'legacy_tail',
]);

/** True if the plan of a query tells how this request was answered: listings are read in other ways. */
export function hasPlan({ endpoint, query }: Pick<AskedQuery, 'endpoint' | 'query'>): boolean {
  return plannedEndpoints.has(endpoint) && !isCut(query);
}

/** Length at which the server cuts a query text, and marks that with dots. */
const cutLength = 1_024;

export function isCut(query: string): boolean {
  return query.length === cutLength + 3 && query.endsWith('...');
}
