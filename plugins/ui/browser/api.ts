/** The page's requests to its own server. */
import { AnswerError } from './model/lines/json-parts.js';
import type { Remedy } from './model/query/offers.js';
import type { QueryState } from './model/query-state.js';
import type { NsRange } from './model/time-range.js';
import type {
  AskedQueries,
  Labels,
  LoadedPipeline,
  Mirrored,
  Narrowing,
  PageExplanation,
  QueryAnswer,
  RunReport,
} from './model/wire.js';

/** The server rejected the request or failed; the message is the server's text. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text);
    this.name = 'ServerError';
  }
}

/** The message for a failed request. */
export function failureText(error: unknown): string {
  const isTold = error instanceof ServerError || error instanceof AnswerError;
  return isTold ? error.message : 'The proxy does not answer.';
}

const tokenKey = 'ref-proxy.admin-token';

/** The admin token as entered, kept while the tab is open. */
export const token = {
  read: (): string => sessionStorage.getItem(tokenKey) ?? '',
  keep: (text: string): void => sessionStorage.setItem(tokenKey, text),
};

export function fetchPipeline(signal: AbortSignal): Promise<LoadedPipeline> {
  return ask('api/pipeline', {}, { signal });
}

/** The queries of all clients; undefined if they are not counted. */
export async function fetchAsked(signal: AbortSignal): Promise<AskedQueries | undefined> {
  try {
    return await ask<AskedQueries>('/debug/queries', {}, { signal });
  } catch (error) {
    if (error instanceof ServerError && error.status === 404) return undefined;
    throw error;
  }
}

/** The findings of the stage `mirror`. */
export function fetchMirrored(signal: AbortSignal): Promise<Mirrored> {
  return ask('/admin/mirror', {}, { signal });
}

/** Explains a query; `step` is the interval of the histogram's bars in seconds. */
export function fetchExplanation(
  { query, tenant }: Pick<QueryState, 'query' | 'tenant'>,
  step: number,
  signal: AbortSignal,
): Promise<PageExplanation> {
  return ask('api/explain', { query, step: String(step) }, { tenant, signal });
}

/** The error in a query that is being written, with the server's text; undefined for a valid one. */
export async function checkQuery(query: string): Promise<string | undefined> {
  return (await ask<{ readonly error?: string }>('api/check', { query }, {})).error;
}

/** The API request of a query: `step` in seconds, and the name under which the server stores its cost. */
export interface Asked extends Pick<QueryState, 'query' | 'limit' | 'direction' | 'tenant'> {
  readonly range: NsRange;
  readonly step?: number;
  readonly run?: string;
}

/** Runs a query through the pipeline. */
export function fetchRange(asked: Asked, signal: AbortSignal): Promise<QueryAnswer> {
  const { tenant, run } = asked;
  return ask('api/query_range', rangeParams(asked), { tenant, signal, run });
}

/** Runs a query through the pipeline; the answer is read by the caller while it arrives. */
export async function openRange(asked: Asked, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { tenant, run } = asked;
  const { body } = await send('api/query_range', rangeParams(asked), { tenant, signal, run });
  return body ?? new Blob().stream();
}

/** Opens the tail of a log query. A browser sends no headers with a WebSocket, so they go as sub-protocols. */
export function openTail(
  { query, tenant }: Pick<QueryState, 'query' | 'tenant'>,
  startMs: number,
  limit: number,
): WebSocket {
  const params = new URLSearchParams({ query, start: `${startMs}000000`, limit: String(limit) });
  const url = new URL(`api/tail?${params.toString()}`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const headers = { encodingFlags: 'categorize-labels', tenant, adminToken: token.read() };
  const carried = Object.entries(headers).flatMap(([name, value]) =>
    value === '' ? [] : [`ref-proxy.${name}.${base64url(value)}`],
  );
  return new WebSocket(url, ['live', ...carried]);
}

function base64url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function rangeParams({ query, limit, direction, range, step }: Asked): Record<string, string> {
  return {
    query,
    start: String(range.startNs),
    end: String(range.endNs),
    limit: String(limit),
    direction,
    ...(step === undefined ? {} : { step: String(step) }),
  };
}

/** An unguessable name for a run. */
export function newRunName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/** The cost of a run; undefined if the server does not know it, or no longer. */
export async function fetchRun(name: string, signal: AbortSignal): Promise<RunReport | undefined> {
  if (name === '') return undefined;
  // The server records the cost after sending the answer, which may be a moment after it arrived.
  for (const waitMs of [0, 100, 400]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      return await ask<RunReport>('api/run', { name }, { signal });
    } catch (error) {
      if (!(error instanceof ServerError) || error.status !== 404) throw error;
    }
  }
  return undefined;
}

/** A change of a query, which the server makes on its tree; several values are kept or dropped together. */
export type Change =
  | {
      readonly change: 'keep' | 'drop';
      readonly name: string;
      readonly value: string | readonly string[];
      readonly of: 'stream' | 'row';
      /** The parsers that make the label, for a label that the query may not have yet. */
      readonly parser?: string | readonly string[];
    }
  | {
      readonly change: 'choose';
      readonly name: string;
      readonly value: readonly string[];
      readonly of: 'stream';
    }
  | {
      readonly change: 'line-keep' | 'line-drop' | 'pattern-keep' | 'pattern-drop';
      readonly value: string;
    }
  | Remedy;

/** The steps by which a log query narrows down what it reads. */
export function fetchNarrowing(query: string, signal: AbortSignal): Promise<Narrowing> {
  return ask('api/narrowing', { query }, { signal });
}

export async function editQuery(query: string, change: Change): Promise<string> {
  return (await ask<{ readonly query: string }>('api/edit', { query, ...change }, {})).query;
}

/** The selector of one stream. */
export async function streamSelector(labels: Labels): Promise<string> {
  const params = { change: 'streams', labels: JSON.stringify(labels) };
  return (await ask<{ readonly query: string }>('api/edit', params, {})).query;
}

export async function formatQuery(query: string, tenant: string): Promise<string> {
  return (await ask<{ readonly data: string }>('api/format_query', { query }, { tenant })).data;
}

/** The tenant and time range for which names are requested. */
export interface NamesScope {
  readonly tenant: string;
  readonly range: NsRange;
  /** Ends the request; without one, a timeout does. */
  readonly signal?: AbortSignal;
}

export async function fetchLabels(selector: string, scope: NamesScope): Promise<readonly string[]> {
  return (await names<{ readonly data?: readonly string[] }>('api/labels', selector, scope)).data ?? [];
}

export async function fetchValues(
  name: string,
  selector: string,
  scope: NamesScope,
): Promise<readonly string[]> {
  const path = `api/label/${encodeURIComponent(name)}/values`;
  return (await names<{ readonly data?: readonly string[] }>(path, selector, scope)).data ?? [];
}

export async function fetchFields(logQuery: string, scope: NamesScope): Promise<readonly string[]> {
  const { fields = [] } = await names<{ readonly fields?: readonly { readonly label: string }[] }>(
    'api/detected_fields',
    logQuery,
    scope,
  );
  return fields.map(({ label }) => label);
}

function names<Body>(path: string, query: string, { tenant, range, signal }: NamesScope): Promise<Body> {
  const params = {
    start: String(range.startNs),
    end: String(range.endNs),
    ...(query === '' ? {} : { query }),
  };
  return ask(path, params, { tenant, signal });
}

const namesWithinMs = 30_000;
const maxUrlLength = 6_000;

/** Parameters of a request; one with several values is sent several times. */
type Sent = Readonly<Record<string, string | readonly string[]>>;

interface Manner {
  readonly tenant?: string;
  readonly signal?: AbortSignal | undefined;
  readonly run?: string | undefined;
}

/** Asks the server; the types of its answers are those of model/wire.ts. */
export async function ask<Body>(path: string, params: Sent, manner: Manner): Promise<Body> {
  const response = await send(path, params, manner);
  return (await response.json()) as Body;
}

/** Sends a request; an error of the server is thrown. */
async function send(path: string, params: Sent, { tenant = '', signal, run }: Manner): Promise<Response> {
  const headers = new Headers({ 'X-Loki-Response-Encoding-Flags': 'categorize-labels' });
  if (tenant !== '') headers.set('X-Scope-OrgID', tenant);
  if (token.read() !== '') headers.set('X-Admin-Token', token.read());
  if (run !== undefined) headers.set('X-Page-Run', run);
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const search = new URLSearchParams(pairs).toString();
  const init = {
    headers,
    credentials: 'same-origin',
    signal: signal ?? AbortSignal.timeout(namesWithinMs),
  } as const;
  // A query that is too long for a URL is sent as a form.
  const isLong = search.length > maxUrlLength;
  if (isLong) headers.set('Content-Type', 'application/x-www-form-urlencoded');
  const response = await (isLong
    ? fetch(path, { ...init, method: 'POST', body: search })
    : fetch(`${path}?${search}`, init));
  if (response.ok) return response;
  const text = await response.text();
  throw new ServerError(response.status, errorText(text) || `status ${response.status}`);
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
