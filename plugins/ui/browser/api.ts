/** The page's requests to its own server. */
import type { QueryState } from './model/query-state.js';
import type { TimeRange } from './model/time-range.js';
import type { LoadedPipeline, PageExplanation, QueryAnswer } from './model/wire.js';

/** The server refused or failed; the message is the server's text. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text);
    this.name = 'ServerError';
  }
}

const tokenKey = 'ref-proxy.admin-token';

/** The admin token as typed in, kept as long as the tab is open. */
export const token = {
  read: (): string => sessionStorage.getItem(tokenKey) ?? '',
  keep: (text: string): void => sessionStorage.setItem(tokenKey, text),
};

export function fetchPipeline(signal: AbortSignal): Promise<LoadedPipeline> {
  return ask('api/pipeline', {}, '', signal);
}

/** Explains a query; `step` is the interval of the histogram's bars in seconds. */
export function fetchExplanation(
  { query, tenant }: QueryState,
  step: number,
  signal: AbortSignal,
): Promise<PageExplanation> {
  return ask('api/explain', { query, step: String(step) }, tenant, signal);
}

/** Runs a query through the pipeline; `step` in seconds. */
export function fetchRange(
  { query, limit, direction, tenant }: QueryState,
  { startMs, endMs }: TimeRange,
  step: number,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const params = {
    query,
    start: `${Math.round(startMs)}000000`,
    end: `${Math.round(endMs)}000000`,
    step: String(step),
    limit: String(limit),
    direction,
  };
  return ask('api/query_range', params, tenant, signal);
}

async function ask<Body>(
  path: string,
  params: Record<string, string>,
  tenant: string,
  signal: AbortSignal,
): Promise<Body> {
  const headers = new Headers({ 'X-Loki-Response-Encoding-Flags': 'categorize-labels' });
  if (tenant !== '') headers.set('X-Scope-OrgID', tenant);
  if (token.read() !== '') headers.set('X-Admin-Token', token.read());
  const search = new URLSearchParams(params).toString();
  const response = await fetch(`${path}?${search}`, { headers, signal, credentials: 'same-origin' });
  const text = await response.text();
  if (!response.ok) throw new ServerError(response.status, errorText(text) || `status ${response.status}`);
  // The page only talks to its own server; model/wire.ts has the types of its answers.
  return JSON.parse(text) as Body;
}

/** The server's message: the `error` of a JSON body, otherwise the body. */
function errorText(body: string): string {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json === 'object' && json !== null && 'error' in json) return String(json.error);
  } catch {
    // Not every error is JSON.
  }
  return body.trim();
}
