import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';

/** The account whose logs a caller with these credentials sees; undefined for the account in the call. */
export type AccountOf = (authorization: string) => string | undefined;

/** A proxy in front of a backend that counts calls, and selects other logs for other credentials. */
export class CountingBackend {
  readonly url: string;
  /** Calls for logs, by path. */
  readonly calls = new Map<string, number>();
  readonly #server: Server;
  readonly #backend: string;
  readonly #accountOf: AccountOf;

  private constructor(server: Server, backend: string, accountOf: AccountOf) {
    // A server that listens on TCP has an address object.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
    this.#backend = backend;
    this.#accountOf = accountOf;
  }

  static async open(backend: string, accountOf: AccountOf = () => undefined): Promise<CountingBackend> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const counting = new CountingBackend(server, backend, accountOf);
    server.on('request', (incoming, outgoing) => {
      counting.#pass(incoming, outgoing).catch(() => outgoing.destroy());
    });
    return counting;
  }

  get total(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  forget(): void {
    this.calls.clear();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const path = url.split('?', 1)[0] ?? '';
    if (path.startsWith('/select/')) this.calls.set(path, (this.calls.get(path) ?? 0) + 1);
    const { authorization } = headers;
    const account = authorization === undefined ? undefined : this.#accountOf(authorization);
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const {
      statusCode,
      headers: given,
      body,
    } = await request(new URL(url, this.#backend), {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: {
        ...withoutHops(headers),
        ...(account === undefined ? {} : { accountid: account, projectid: '0' }),
      },
      body: method === 'POST' ? incoming : null,
      signal: gone.signal,
    });
    outgoing.writeHead(statusCode, withoutHops(given));
    await pipeline(body, outgoing);
  }
}

const hopByHop: ReadonlySet<string> = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding']);

/** The headers without the hop-by-hop ones. */
function withoutHops(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));
}
