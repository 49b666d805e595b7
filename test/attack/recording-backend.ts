import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';

/** A call from the proxy, with the response status. */
export interface BackendCall {
  readonly path: string;
  /** The arguments from the URL and the form body. */
  readonly args: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Account and project, such as `11:0`; empty if the call has none. */
  readonly tenant: string;
  readonly status: number;
  /** The body of an error response. */
  readonly error: string;
}

const maxBodyBytes = 16 * 1024 * 1024;

/** A proxy in front of a backend that records every call and maps accounts to others. */
export class RecordingBackend {
  readonly url: string;
  readonly #server: Server;
  readonly #backend: string;
  readonly #accountFor: (account: number) => number;
  readonly #onCall: (call: BackendCall) => void;

  private constructor(
    server: Server,
    backend: string,
    accountFor: (account: number) => number,
    onCall: (call: BackendCall) => void,
  ) {
    // A server that listens on TCP has an address object.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
    this.#backend = backend;
    this.#accountFor = accountFor;
    this.#onCall = onCall;
  }

  static async open(
    backend: string,
    accountFor: (account: number) => number,
    onCall: (call: BackendCall) => void,
  ): Promise<RecordingBackend> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const recording = new RecordingBackend(server, backend, accountFor, onCall);
    server.on('request', (incoming, outgoing) => {
      recording.#pass(incoming, outgoing).catch(() => outgoing.destroy());
    });
    return recording;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const form = await bodyOf(incoming);
    const target = new URL(url, this.#backend);
    const { accountid, projectid } = headers;
    const isOfForm = (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    const {
      statusCode,
      headers: given,
      body,
    } = await request(target, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: {
        ...withoutHops(headers),
        ...(accountid === undefined ? {} : { accountid: String(this.#accountFor(Number(accountid))) }),
      },
      body: method === 'POST' ? form : null,
    });
    const answer = Buffer.from(await body.arrayBuffer());
    const forms = isOfForm ? new URLSearchParams(form.toString('utf8')) : [];
    this.#onCall({
      path: target.pathname,
      args: new URLSearchParams([...target.searchParams, ...forms]),
      headers,
      tenant: accountid === undefined ? '' : `${String(accountid)}:${String(projectid)}`,
      status: statusCode,
      error: statusCode < 400 ? '' : answer.toString('utf8', 0, 500),
    });
    outgoing.writeHead(statusCode, withoutHops(given)).end(answer);
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBodyBytes) throw new Error(`a call has more than ${maxBodyBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'keep-alive',
  'transfer-encoding',
  'content-length',
]);

function withoutHops(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !hopByHop.has(name)) kept[name] = value;
  return kept;
}
