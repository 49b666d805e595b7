import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { request } from 'undici';
import { whole, type Action, type BackendReply } from './wire.js';

/** Selects the damage to a call; undefined forwards the real response. */
export type Damage = (reply: BackendReply, call: number) => readonly Action[] | undefined;

/** A call of the proxy, as received by the relay. */
export interface SeenCall {
  readonly path: string;
  readonly form: string;
}

/**
 * Runs between the proxy and its backend. It sends valid requests to the backend, and responds with raw bytes, because no server library
 * would send such responses.
 */
export class DamagingRelay {
  readonly url: string;
  /** Calls since the last `expect`. */
  calls: SeenCall[] = [];
  #damage: Damage = () => undefined;
  readonly #server: Server;
  readonly #backend: string;
  readonly #open: Set<Socket>;

  private constructor(server: Server, backend: string, open: Set<Socket>) {
    this.#server = server;
    this.#backend = backend;
    this.#open = open;
    // A server that listens on TCP has an address object.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(backend: string): Promise<DamagingRelay> {
    const server = createServer({ noDelay: true });
    const open = new Set<Socket>();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const relay = new DamagingRelay(server, backend, open);
    server.on('connection', (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => undefined);
      void relay.#serve(socket).catch(() => socket.destroy());
    });
    return relay;
  }

  /** Resets the recorded calls, and sets the damage for the next ones. */
  expect(damage: Damage = () => undefined): void {
    this.calls = [];
    this.#damage = damage;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  async #serve(socket: Socket): Promise<void> {
    let read = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      read = Buffer.concat([read, chunk]);
      for (let call = takeCall(read); call !== undefined; call = takeCall(read)) {
        read = read.subarray(call.size);
        if (!(await this.#answer(socket, call))) return;
      }
    }
  }

  /** True while the connection can carry another call. */
  async #answer(socket: Socket, call: ReadCall): Promise<boolean> {
    const damage = this.#damage;
    const number = this.calls.push({ path: call.path, form: call.body }) - 1;
    const reply = await this.#ask(call);
    for (const action of damage(reply, number) ?? [whole(reply)]) {
      if (socket.destroyed) return false;
      if (Buffer.isBuffer(action)) await written(socket, action);
      else if (typeof action === 'object') await new Promise((resolve) => setTimeout(resolve, action.waitMs));
      else if (action === 'hang') return false;
      else {
        if (action === 'reset') socket.resetAndDestroy();
        else socket.end();
        return false;
      }
    }
    return true;
  }

  async #ask(call: ReadCall): Promise<BackendReply> {
    const { statusCode, headers, body } = await request(new URL(call.target, this.#backend), {
      method: call.method,
      headers: call.headers,
      body: call.method === 'POST' ? call.body : null,
    });
    return {
      path: call.path,
      status: statusCode,
      contentType: String(headers['content-type'] ?? 'text/plain'),
      body: Buffer.from(await body.arrayBuffer()),
    };
  }
}

interface ReadCall {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly size: number;
}

/** The first complete call in the received bytes: the proxy sends GET, or POST with a length. */
function takeCall(read: Buffer): ReadCall | undefined {
  const end = read.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = read.toString('latin1', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!hopByHop.has(name)) headers[name] = line.slice(colon + 1).trim();
  }
  const length = Number(headers['content-length'] ?? 0);
  const size = end + 4 + length;
  if (read.length < size) return undefined;
  const [method, target = '/'] = start.split(' ');
  return {
    method: method === 'POST' ? 'POST' : 'GET',
    target,
    path: target.split('?', 1)[0] ?? '',
    headers: { ...headers, 'accept-encoding': 'identity' },
    body: read.toString('utf8', end + 4, size),
    size,
  };
}

const hopByHop = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding', 'upgrade']);

async function written(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
