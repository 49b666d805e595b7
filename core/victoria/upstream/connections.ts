import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { authorizationOf } from '../../base/url-credentials.js';
import { guardEvents } from '../../base/guard-events.js';

export interface ConnectionOptions {
  readonly tlsSkipVerify: boolean;
  /** Maximum number of connections, and thus of concurrent requests; others wait. */
  readonly max: number;
  /** Maximum number of idle connections to keep. */
  readonly maxKept: number;
}

export interface PlainRequest {
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
  const timer = setTimeout(
    () => connection.destroy(new Error(`no connection within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  );
  const stop = (): void => clearTimeout(timer);
  connection.once(connected, stop);
  connection.once('close', stop);
}
