import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Caller, Tenant } from '../../base/caller.js';
import { guardEvents } from '../../base/guard-events.js';
import type { BackendOptions } from '../../base/options.gen.js';
import { authorizationOf, basicAuthorization } from '../../base/url-credentials.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { everything, matcher, streamMatch } from '../logsql/build.js';
import { startTimer } from '../../base/time/waits.js';

interface ConnectionOptions {
  readonly tlsSkipVerify: boolean;
  /** Maximum number of connections, and thus of concurrent requests; others wait. */
  readonly max: number;
  /** Maximum number of idle connections to keep. */
  readonly maxKept: number;
}

interface PlainRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, appended to the URL's path. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

const connectTimeoutMs = 10_000;
/** Idle connections are closed after this time, because proxies in between drop them silently. */
const idleMs = 4_000;

/** A pool of connections to one server. An error of a connection only affects the requests on it. */
export class BackendConnections {
  readonly #host: string;
  readonly #port: string;
  readonly #basePath: string;
  /** Authentication by the user and password of the URL, for requests without their own. */
  readonly #own: Readonly<Record<string, string>>;
  readonly #agent: HttpAgent;
  readonly #send: (options: RequestOptions) => ClientRequest;

  constructor(url: string, { tlsSkipVerify, max, maxKept }: ConnectionOptions) {
    const parsed = new URL(url);
    const { hostname, pathname, port, protocol } = parsed;
    const authorization = authorizationOf(parsed);
    this.#own = authorization === undefined ? {} : { authorization };
    // Only URLs put an IPv6 address in brackets.
    this.#host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.#port = port;
    this.#basePath = pathname.replace(/\/+$/, '');
    const isTls = protocol === 'https:';
    const common = { keepAlive: true, maxSockets: max, maxFreeSockets: maxKept, timeout: idleMs };
    this.#agent = isTls
      ? new HttpsAgent({ ...common, rejectUnauthorized: !tlsSkipVerify })
      : new HttpAgent(common);
    guardConnections(this.#agent, isTls ? 'secureConnect' : 'connect');
    this.#send = isTls ? httpsRequest : httpRequest;
  }

  /** Sends a request and waits for the head of its answer; the body is read as it is pulled. */
  request({ method, path, headers, body, signal }: PlainRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = this.#send({
        agent: this.#agent,
        host: this.#host,
        port: this.#port,
        method,
        path: `${this.#basePath}${path}`,
        headers: {
          ...this.#own,
          ...headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      });
      guardEvents(sent, (error) => sent.destroy(error));
      // The request's own `signal` option costs as much as the rest of a small call.
      const abort = (): void => void sent.destroy(new Error('aborted', { cause: signal.reason }));
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.once('response', (response) => {
        guardEvents(response, (error) => response.destroy(error));
        // Handled, because the body may fail before it has a reader, who then gets the error.
        response.on('error', () => undefined);
        resolve(response);
      });
      // Stays for the life of the request: after the head, errors go to the reader of the body.
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Closes all connections; their requests fail. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Limits exceptions thrown while serving a connection to that connection: it ends, and its requests fail. */
function guardConnections(agent: HttpAgent, connected: string): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options, callback);
    if (connection !== null && connection !== undefined) guard(connection, connected);
    return connection;
  };
}

function guard(connection: Duplex, connected: string): void {
  guardEvents(connection, (error) => connection.destroy(error));
  const timer = startTimer(
    () => connection.destroy(new Error(`no connection within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  );
  const stop = (): void => clearTimeout(timer);
  connection.once(connected, stop);
  connection.once('close', stop);
}

/** The lifetime of one call: it ends with its parent signal or at its timeout. `end` frees its resources and must always be called. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #hasPassed = false;
  readonly #onParent = (): void => this.#controller.abort(this.#parent.reason);

  constructor(parent: AbortSignal, timeoutMs: number) {
    this.#parent = parent;
    this.#timer = startTimer(() => {
      this.#hasPassed = true;
      this.#controller.abort(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    parent.addEventListener('abort', this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the timeout fired before the call ended. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** Removes the timeout; the call still ends with its parent. */
  lift(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener('abort', this.#onParent);
  }
}

/** Options that choose which headers and cookies of a client the backend receives (docs/protocol/tenants.md#what-the-backend-is-told). */
export type ForwardOptions = Pick<
  BackendOptions,
  'basicAuth' | 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies' | 'trustProxyHeaders'
>;

// Hop-by-hop headers, and headers that the tenant determines and a client must not set.
const neverForwarded: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'sec-websocket-protocol',
  'expect',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-encoding',
  'accountid',
  'projectid',
]);

/** The headers of a call that no client caused: the proxy's own credentials. */
export function ownHeaders({ basicAuth = '' }: Pick<ForwardOptions, 'basicAuth'>): Record<string, string> {
  if (basicAuth === '') return {};
  return { authorization: basicAuthorization(basicAuth) };
}

/** Headers that identify the proxy and its client. */
const plainHeaders: ReadonlySet<string> = new Set([
  'accountid',
  'projectid',
  'x-scope-orgid',
  'x-ref-proxy-client-id',
  'x-ref-proxy-client-source',
  'traceparent',
  'tracestate',
]);

/** Values of headers that only the backend may see: the credentials of the proxy or of a client. */
export function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => (plainHeaders.has(name) ? [] : [value]));
}

/** The headers of a backend call on behalf of a caller and tenant. */
export function headersFor(caller: Caller, tenant: Tenant, options: ForwardOptions): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(ownHeaders(options))) headers.set(name, value);
  const names = options.forwardAuthorization
    ? ['authorization', ...options.forwardHeaders]
    : options.forwardHeaders;
  for (const name of names.map((each) => each.toLowerCase())) {
    const value = caller.headers.get(name);
    if (value !== undefined && !neverForwarded.has(name)) headers.set(name, value);
  }
  const cookies = chosenCookies(caller.headers.get('cookie') ?? '', options.forwardCookies);
  if (cookies !== '') headers.set('cookie', cookies);
  if (tenant.streamField === undefined) {
    headers.set('accountid', String(tenant.accountId));
    headers.set('projectid', String(tenant.projectId));
  }
  if (tenant.forwardHeader) headers.set('x-scope-orgid', tenant.id);
  if (options.trustProxyHeaders) {
    const identity = endUserOf(caller, caller.orgId === undefined ? undefined : tenant.id, true);
    headers.set('x-ref-proxy-client-id', identity.id);
    headers.set('x-ref-proxy-client-source', identity.source);
  }
  return Object.fromEntries(headers);
}

/** The parameters that restrict a backend call to its tenant; a client cannot override them. */
export function tenantParameters(tenant: Tenant): readonly (readonly [string, string])[] {
  if (tenant.streamField === undefined) return [];
  return [['extra_stream_filters', JSON.stringify(Object.fromEntries([[tenant.streamField, tenant.id]]))]];
}

/** A filter for the tenant's rows, for calls that do not support such parameters. */
export function tenantScope(tenant: Tenant): LogsqlFilter {
  const { streamField, id } = tenant;
  return streamField === undefined ? everything : streamMatch(matcher(streamField, '=', id));
}

function chosenCookies(header: string, wanted: readonly string[]): string {
  if (header === '' || wanted.length === 0) return '';
  if (wanted.includes('*')) return header;
  const names = new Set(wanted);
  const kept = header.split(';').filter((pair) => names.has(pair.slice(0, pair.indexOf('=')).trim()));
  return kept.map((pair) => pair.trim()).join('; ');
}

/** The end user behind a datasource, and the source of that name (docs/protocol/tenants.md#who-is-asking). */
interface EndUser {
  readonly id: string;
  /** Display name, if a proxy in front sent one. */
  readonly name?: string;
  readonly source: string;
}

const userHeaders = ['x-grafana-user', 'x-forwarded-user', 'x-webauth-user', 'x-auth-request-user'] as const;

/** The end user: a user header if proxy headers are trusted, else the tenant, the forwarded address or the remote address. */
export function endUserOf(caller: Caller, tenantId: string | undefined, trustsHeaders: boolean): EndUser {
  if (trustsHeaders) {
    for (const header of userHeaders) {
      const id = caller.headers.get(header);
      if (id !== undefined && id !== '') return { id, name: id, source: header };
    }
  }
  const tenant = tenantId ?? caller.orgId ?? '';
  if (tenant !== '') return { id: tenant, source: 'tenant' };
  const forwarded = trustsHeaders ? caller.headers.get('x-forwarded-for')?.split(',')[0]?.trim() : undefined;
  if (forwarded !== undefined && forwarded !== '') return { id: forwarded, source: 'forwarded_for' };
  return { id: caller.address, source: 'remote_addr' };
}
