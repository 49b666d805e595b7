import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A backend call of the proxy. */
export interface SeenCall {
  readonly path: string;
  readonly args: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Changes to the response of a call. */
export interface Meddling {
  /** Awaited before anything else. */
  readonly first?: () => Promise<void>;
  /** The delay before the response, or before the call is forwarded. */
  readonly waitMs?: number;
  /** The response status; without one the call is forwarded to the backend. */
  readonly status?: number;
  readonly body?: string;
  /** Cuts the connection. */
  readonly isCut?: true;
}

/** Calls that the proxy makes on its own to check the state of the backend. */
const ownBusiness: ReadonlySet<string> = new Set([
  '/health',
  '/metrics',
  '/select/buildinfo',
  // Polls until deletions of an earlier probe are finished.
  '/delete/active_tasks',
]);
const maxBodyBytes = 4 * 1024 * 1024;
const maxCalls = 20_000;

/** A relay in front of the backend that records the calls, and changes those that a probe selects. */
export class Relay {
  readonly url: string;
  calls: SeenCall[] = [];
  /** The maximum of concurrent calls since `forget`. */
  mostOpen = 0;
  meddle: (call: SeenCall) => Meddling | undefined = () => undefined;
  #open = 0;
  readonly #server;
  readonly #backend: string;

  private constructor(server: ReturnType<typeof createServer>, backend: string) {
    this.#server = server;
    this.#backend = backend;
    // A server that listens on TCP has an address object.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(backend: string): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const relay = new Relay(server, backend);
    server.on('request', (incoming, outgoing) => {
      relay.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
    return relay;
  }

  forget(): void {
    this.calls = [];
    this.mostOpen = 0;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const url = new URL(incoming.url ?? '/', this.#backend);
    const form = new URLSearchParams(body.toString('utf8'));
    const call = {
      path: url.pathname,
      args: new Map([...url.searchParams, ...form]),
      headers: incoming.headers,
    };
    if (!ownBusiness.has(call.path)) {
      if (this.calls.length < maxCalls) this.calls.push(call);
      this.#open += 1;
      this.mostOpen = Math.max(this.mostOpen, this.#open);
      outgoing.once('close', () => (this.#open -= 1));
    }
    const meddling = this.meddle(call) ?? {};
    await meddling.first?.();
    if (meddling.waitMs !== undefined) await waited(meddling.waitMs, outgoing);
    if (meddling.isCut === true) outgoing.destroy();
    else if (meddling.status !== undefined) outgoing.writeHead(meddling.status).end(meddling.body ?? 'no');
    else this.#pass(url, incoming, body, outgoing);
  }

  #pass(url: URL, { method, headers }: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
    const onward = httpRequest(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) throw new Error('the call is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Resolves after the delay, or when the client disconnects. */
async function waited(ms: number, outgoing: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    outgoing.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
