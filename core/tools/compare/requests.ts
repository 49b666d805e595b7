import { isSorting, LogqlError, parseQuery } from '../../logql/index.js';
import type { AskedRequest } from './ask.js';
import type { FoundQueries, FoundQuery } from './found-query.js';
import { autoStep, fillIn, type Span } from './variables.js';

export interface Times {
  /** End of all ranges, and the time of instant queries, in Unix milliseconds. */
  readonly endMs: number;
  /** Lengths of ranges in milliseconds; each query without a length of its own is sent once for each. */
  readonly rangesMs: readonly number[];
}

const defaultLimit = 100;

/** A query that cannot be sent, with the reason. */
export interface NotAsked {
  readonly query: Pick<FoundQuery, 'group' | 'name' | 'text'>;
  readonly reason: string;
}

/** The span of a query in a range; steps and times are aligned so that both sides evaluate at the same moments. */
export function spanOf(endMs: number, rangeMs: number, stepMs = autoStep(rangeMs)): Span {
  const alignedMs = endMs - (endMs % stepMs);
  return { startMs: alignedMs - rangeMs, endMs: alignedMs, stepMs };
}

/** The requests for the queries of a file. */
export function requestsOf(
  { queries }: Pick<FoundQueries, 'queries'>,
  values: ReadonlyMap<string, readonly string[]>,
  { endMs, rangesMs }: Times,
): { readonly requests: readonly AskedRequest[]; readonly notAsked: readonly NotAsked[] } {
  const requests: AskedRequest[] = [];
  const notAsked: NotAsked[] = [];
  for (const query of queries) {
    if (query.path !== undefined) {
      requests.push(pathRequest(query, query.path));
      continue;
    }
    const lengths = query.kind === 'instant' ? rangesMs.slice(0, 1) : [query.rangeMs ?? rangesMs].flat();
    for (const rangeMs of lengths) {
      const span = spanOf(endMs, rangeMs, query.stepMs);
      const { text, missing } = fillIn(query.text ?? '', values, span);
      if (missing.length > 0)
        notAsked.push({
          query,
          reason: `no value for ${[...new Set(missing)].map((name) => `$${name}`).join(', ')}: set it with -variable`,
        });
      else requests.push(queryRequest(query, text, span, lengths.length > 1));
    }
  }
  return { requests, notAsked };
}

function pathRequest({ group, name }: FoundQuery, text: string): AskedRequest {
  const url = new URL(text, 'http://path');
  const params: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [key, value] of url.searchParams) (params[key] ??= []).push(value);
  return { group, name, text, path: url.pathname, params };
}

function queryRequest(
  { group, name, kind, limit, orgId }: FoundQuery,
  text: string,
  { startMs, endMs, stepMs }: Span,
  isNamedByRange: boolean,
): AskedRequest {
  const lines = { limit: String(limit ?? defaultLimit) };
  const times = { start: nanoseconds(startMs), end: nanoseconds(endMs), step: `${stepMs / 1000}` };
  return {
    group,
    name: isNamedByRange ? `${name}, ${Math.round((endMs - startMs) / 1000)} s` : name,
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
