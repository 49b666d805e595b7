import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';

export interface ConnectionOptions {
  readonly tlsSkipVerify: boolean;
  /** Connections at once, and so requests at once; the others wait. */
  readonly max: number;
  /** Connections at most that are kept while nothing is asked. */
  readonly maxKept: number;
}

export interface PlainRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, behind the path of the URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

const connectTimeoutMs = 10_000;
/** No connection is kept longer without use: what stands between forgets those without a word. */
const idleMs = 4_000;

/** Kept connections to one server. An error of a connection ends the requests on it and nothing else. */
export class Connections {
  readonly #host: string;
  readonly #port: string;
  readonly #basePath: string;
  readonly #agent: HttpAgent;
  readonly #send: (options: RequestOptions) => ClientRequest;

  constructor(url: string, { tlsSkipVerify, max, maxKept }: ConnectionOptions) {
    const { hostname, pathname, port, protocol } = new URL(url);
    // Brackets belong to an IPv6 address in URLs only.
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
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
      });
      // The request's own `signal` option costs as much as all the rest of a small call.
      const abort = (): void => void sent.destroy(new Error('aborted', { cause: signal.reason }));
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.once('response', (response) => {
        // It may fail before anybody reads it, who is told then.
        response.on('error', () => undefined);
        resolve(response);
      });
      // It stays for as long as the request lives: behind the head, errors reach whoever reads the body.
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Closes all connections; requests on them end with an error. */
  close(): void {
    this.#agent.destroy();
  }
}

/**
 * What is thrown while a connection is served, by whatever reads it, ends this connection and fails what was asked on it. Without
 * this, one answer that trips a defect of the HTTP client would be an uncaught exception: the end of the process.
 */
function guardConnections(agent: HttpAgent, connected: string): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options, callback);
    if (connection !== null && connection !== undefined) guard(connection, connected);
    return connection;
  };
}

function guard(connection: Duplex, connected: string): void {
  const emit = connection.emit.bind(connection);
  connection.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    try {
      return emit(event, ...values);
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
  const timer = setTimeout(
    () => connection.destroy(new Error(`no connection within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  );
  const stop = (): void => clearTimeout(timer);
  connection.once(connected, stop);
  connection.once('close', stop);
}
