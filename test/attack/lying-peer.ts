import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import type { Random } from '../watch/random.js';

/** An answer of the real replica. */
interface TrueAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

type Lie = (peer: LyingPeer, answer: TrueAnswer, outgoing: ServerResponse, random: Random) => void;

const maxAnswers = 400;
const dripMs = 20;
/** With a larger share, five failures in a row would stop requests to it most of the time. */
const lieShare = 0.25;
const truth = 'the truth';

const lies: Readonly<Record<string, Lie>> = {
  [truth]: (_peer, answer, outgoing) => give(outgoing, answer),
  'the value of another key': (peer, answer, outgoing, random) =>
    give(outgoing, peer.another(random) ?? answer),
  'the value of another key as if it were there': (peer, answer, outgoing, random) => {
    const other = peer.another(random) ?? answer;
    give(outgoing, { ...other, headers: { ...other.headers, 'x-cache-ttl-ms': '3600000' } });
  },
  'changed bytes': (_peer, answer, outgoing, random) => {
    const body = Buffer.from(answer.body);
    for (let times = random.pick([1, 3, 40]); times > 0 && body.length > 0; times -= 1) {
      const at = random.below(body.length);
      body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
    }
    give(outgoing, { ...answer, body });
  },
  'the head of one value and the body of another': (peer, answer, outgoing, random) => {
    const other = peer.another(random) ?? answer;
    const at = random.pick([21, 53]);
    give(outgoing, {
      ...answer,
      body: Buffer.concat([answer.body.subarray(0, at), other.body.subarray(at)]),
    });
  },
  'a value that never ages': (_peer, answer, outgoing) => {
    const body = Buffer.from(answer.body);
    if (body.length > 21) body.writeDoubleBE(Number.MAX_VALUE, 13);
    give(outgoing, { ...answer, body });
  },
  'a part of it': (_peer, answer, outgoing, random) =>
    give(outgoing, { ...answer, body: answer.body.subarray(0, random.below(answer.body.length + 1)) }),
  'other bytes': (_peer, _answer, outgoing, random) =>
    give(outgoing, { status: 200, headers: {}, body: bytesOf(random, random.pick([0, 1, 53, 3_000])) }),
  'a page': (_peer, _answer, outgoing) =>
    give(outgoing, {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<html>sign in</html>'),
    }),
  'a wrong encoding': (_peer, answer, outgoing, random) =>
    give(outgoing, {
      ...answer,
      headers: {
        ...answer.headers,
        'content-encoding': random.pick(['gzip', 'br', 'zstd', 'x', 'identity']),
      },
    }),
  'another status': (_peer, answer, outgoing, random) =>
    give(outgoing, { ...answer, status: random.pick([204, 206, 304, 400, 401, 403, 429, 500, 503]) }),
  'a redirect elsewhere': (peer, _answer, outgoing, random) =>
    give(outgoing, {
      status: random.pick([301, 302, 303, 307, 308]),
      headers: { location: `${peer.trap}/_cache/get` },
      body: Buffer.alloc(0),
    }),
  'a body without an end': (_peer, _answer, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
    const piece = Buffer.alloc(256 * 1024, 'x');
    const more = (): void => {
      while (!outgoing.destroyed && outgoing.write(piece));
      if (!outgoing.destroyed) outgoing.once('drain', more);
    };
    more();
  },
  'a length without a body': (_peer, _answer, outgoing, random) => {
    outgoing.writeHead(200, { 'content-length': random.pick(['100', '67108864', '9007199254740991']) });
    outgoing.write('x');
  },
  'a slow body': (_peer, answer, outgoing) => {
    outgoing.writeHead(200);
    let at = 0;
    const timer = setInterval(() => {
      if (at >= answer.body.length) outgoing.end();
      else outgoing.write(answer.body.subarray(at, (at += 1)));
    }, dripMs);
    outgoing.once('close', () => clearInterval(timer));
  },
  nothing: () => undefined,
  'a broken connection': (_peer, _answer, outgoing) => void outgoing.socket?.destroy(),
  'half of it': (_peer, answer, outgoing) => {
    outgoing.writeHead(200, { 'content-length': String(answer.body.length + 100) });
    outgoing.write(answer.body, () => outgoing.socket?.destroy());
  },
  'that somebody makes it': (_peer, _answer, outgoing, random) =>
    give(outgoing, {
      status: 404,
      headers: { 'x-peer-making': random.pick(['wait', 'make', 'none', 'x', ',,,']) },
      body: Buffer.alloc(0),
    }),
};

const lieNames: readonly string[] = Object.keys(lies);

const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'content-length',
  'keep-alive',
  'transfer-encoding',
]);

/** A proxy in front of a replica that sends false responses to the others. It has no token of its own, but sees the traffic. */
export class LyingPeer {
  readonly port: number;
  /** The target of its redirects, which must receive no requests. */
  readonly trap: string;
  trapped = 0;
  /** The number of responses with each kind of lie. */
  readonly told = new Map<string, number>();
  #to = '';
  readonly #servers: readonly Server[];
  readonly #random: Random;
  /** Values that passed through, of every tenant. */
  readonly #seen: TrueAnswer[] = [];

  private constructor(server: Server, trap: Server, random: Random) {
    // Servers that listen on TCP have an address object.
    this.port = (server.address() as AddressInfo).port;
    this.trap = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
    this.#servers = [server, trap];
    this.#random = random;
  }

  static async open(random: Random): Promise<LyingPeer> {
    const [server, trap] = [createServer(), createServer()];
    for (const each of [server, trap])
      await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
    const peer = new LyingPeer(server, trap, random);
    server.on('request', (incoming, outgoing) => {
      peer.#answer(incoming, outgoing).catch(() => outgoing.destroy());
    });
    trap.on('request', (_, outgoing) => {
      peer.trapped += 1;
      outgoing.end();
    });
    return peer;
  }

  /** Sets the replica that it impersonates. */
  speakFor(url: string): void {
    this.#to = url;
  }

  another(random: Random): TrueAnswer | undefined {
    return this.#seen.length === 0 ? undefined : random.pick(this.#seen);
  }

  close(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url = '/', headers } = incoming;
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
    const sent: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers))
      if (typeof value === 'string' && !ofConnection.has(name)) sent[name] = value;
    const {
      statusCode,
      headers: given,
      body,
    } = await request(new URL(url, this.#to), {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: sent,
      body: method === 'POST' ? Buffer.concat(parts) : null,
    });
    const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !ofConnection.has(name)));
    const answer = { status: statusCode, headers: kept, body: Buffer.from(await body.arrayBuffer()) };
    if (statusCode === 200 && url.startsWith('/_cache/get') && this.#seen.length < maxAnswers)
      this.#seen.push(answer);
    const name = this.#random.chance(lieShare) ? this.#random.pick(lieNames) : truth;
    this.told.set(name, (this.told.get(name) ?? 0) + 1);
    lies[name]?.(this, answer, outgoing, this.#random);
  }
}

function give(outgoing: ServerResponse, { status, headers, body }: TrueAnswer): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) outgoing.setHeader(name, value);
  outgoing.writeHead(status).end(status === 204 || status === 304 ? undefined : body);
}

function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
