import { isSorting, LogqlError, parseQuery } from '../../logql/index.js';
import { filledQueries, type FilledQuery, type NotAsked, type Times } from '../queries/filled-queries.js';
import type { FoundQueries, FoundQuery } from '../queries/found-query.js';
import type { NamedRequest } from './ask.js';

const defaultLimit = 100;

/** The requests for the queries of a file. */
export function requestsOf(
  { queries }: Pick<FoundQueries, 'queries'>,
  values: ReadonlyMap<string, readonly string[]>,
  times: Times,
): { readonly requests: readonly NamedRequest[]; readonly notAsked: readonly NotAsked[] } {
  const requests: NamedRequest[] = [];
  const notAsked: NotAsked[] = [];
  for (const query of queries) {
    if (query.path !== undefined) {
      requests.push(pathRequest(query, query.path));
      continue;
    }
    const found = filledQueries(query, values, times);
    requests.push(...found.filled.map(queryRequest));
    notAsked.push(...found.notAsked);
  }
  return { requests, notAsked };
}

function pathRequest({ group, name }: FoundQuery, text: string): NamedRequest {
  const url = new URL(text, 'http://path');
  const params: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [key, value] of url.searchParams) (params[key] ??= []).push(value);
  return { group, name, text, path: url.pathname, params };
}

function queryRequest({ query, text, span, name }: FilledQuery): NamedRequest {
  const { group, kind, limit, orgId } = query;
  const { startMs, endMs, stepMs } = span;
  const lines = { limit: String(limit ?? defaultLimit) };
  const times = { start: nanoseconds(startMs), end: nanoseconds(endMs), step: `${stepMs / 1000}` };
  return {
    group,
    name,
    text,
    path: `/loki/api/v1/${kind === 'instant' ? 'query' : 'query_range'}`,
    params: { query: text, ...lines, ...(kind === 'instant' ? { time: nanoseconds(endMs) } : times) },
    ordered: kind === 'instant' && isSorted(text),
    ...(orgId === undefined ? {} : { orgId }),
  };
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** True for a query that sorts. A query that cannot be parsed has no order; both sides report the error. */
function isSorted(text: string): boolean {
  try {
    return isSorting(parseQuery(text));
  } catch (error) {
    if (error instanceof LogqlError) return false;
    throw error;
  }
}
