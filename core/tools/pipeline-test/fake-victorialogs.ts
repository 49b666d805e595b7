import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the proxy sent to its backend. */
export interface BackendCall {
  readonly method: string;
  /** Path below the backend's URL, without the query string: `/select/logsql/query`. */
  readonly path: string;
  /** Arguments of URL and form; the last value of a repeated one. */
  readonly args: ReadonlyMap<string, string>;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, unless it is a form. */
  readonly body: string;
}

export interface BackendAnswer {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FakeVictoriaLogsSettings {
  /** Returns the answer to a call; undefined if there is none. */
  readonly answer?: (call: BackendCall) => BackendAnswer | undefined;
  /** Base URL of a backend that handles calls without an answer, such as the embedded one. */
  readonly forwardTo?: string;
}

/** A VictoriaLogs over HTTP on a free port of this machine that answers from a script and records its calls. */
export interface FakeVictoriaLogs {
  readonly url: string;
  /** Every call in order of arrival, except probes of the proxy: health, version, metrics. */
  readonly calls: readonly BackendCall[];
  /** Calls without an answer, which got status 500. */
  readonly unanswered: readonly BackendCall[];
  close(): Promise<void>;
}

/** Maximum size of a body, larger than any query; a longer one is cut. */
const maxBodyBytes = 4 * 1024 * 1024;
/** Maximum number of recorded calls, more than any test needs; later ones are answered but not recorded. */
const maxCalls = 10_000;

/** Health checks of the proxy itself. */
const probes: ReadonlyMap<string, BackendAnswer> = new Map([
  ['/health', { body: 'OK' }],
  ['/metrics', { body: '' }],
  ['/select/buildinfo', { body: '{"status":"success","data":{"version":"v1.52.0"}}' }],
]);

export async function startFakeVictoriaLogs(
  settings: FakeVictoriaLogsSettings = {},
): Promise<FakeVictoriaLogs> {
  const calls: BackendCall[] = [];
  const unanswered: BackendCall[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await readBody(request);
    const call = callOf(request, bytes.toString('utf8'));
    const probe = probes.get(call.path);
    if (probe === undefined && calls.length < maxCalls) calls.push(call);
    const answer = settings.answer?.(call) ?? probe;
    if (answer !== undefined) {
      const { status = 200, headers, body } = answer;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    } else if (settings.forwardTo !== undefined) {
      forward(settings.forwardTo, request, bytes, response);
    } else {
      if (unanswered.length < maxCalls) unanswered.push(call);
      response.writeHead(500).end(`the test has no answer for ${showCall(call)}`);
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // A server listening on TCP has an address object, never null or a pipe name.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    unanswered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A call as text, such as `/select/logsql/query query={app="a"} limit=10`, without the times that every call has. */
export function showCall({ path, args }: BackendCall): string {
  const shown = [...args].filter(([name]) => !quietArgs.has(name)).map(([name, value]) => `${name}=${value}`);
  return [path, ...shown].join(' ');
}

const quietArgs: ReadonlySet<string> = new Set(['start', 'end', 'timeout']);

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= maxBodyBytes) parts.push(part);
  }
  return Buffer.concat(parts);
}

function callOf(request: IncomingMessage, body: string): BackendCall {
  const url = new URL(request.url ?? '/', 'http://backend');
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    args: new Map([...url.searchParams, ...(isForm ? new URLSearchParams(body) : [])]),
    headers: new Map(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    body: isForm ? '' : body,
  };
}

function forward(base: string, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { method, headers, url = '/' } = request;
  const onward = httpRequest(
    new URL(url, base),
    { method, headers: { ...headers, host: new URL(base).host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
