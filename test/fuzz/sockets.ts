import { connect, type Socket } from 'node:net';
import type { Random } from '../watch/random.js';
import type { ProxyAnswer } from '../watch/error-texts.js';

/** The raw bytes that a client writes to a connection. */
export interface Attack {
  readonly name: string;
  readonly writes: readonly Buffer[];
  /** True to disconnect without waiting for a response. */
  readonly leaves: boolean;
}

const path =
  '/loki/api/v1/query_range?query=%7Bservice_name%3D%22checkout%22%7D&start=1793494800&end=1793498400';
const fields = 'Host: x\r\nX-Scope-OrgID: t1\r\n';
const good = `GET ${path} HTTP/1.1\r\n${fields}\r\n`;

const attacks: readonly ((random: Random) => readonly [name: string, ...writes: (string | Buffer)[]])[] = [
  (random) => ['bytes changed', spoilt(random, Buffer.from(good))],
  (random) => ['many in a row', good.repeat(random.between(2, 60))],
  (random) => ['a good one and half of one', good, good.slice(0, random.below(good.length))],
  () => ['a body that never comes', post('Content-Length: 50\r\n', 'query=')],
  () => ['a length below the body', post('Content-Length: 3\r\n', 'query=%7Ba%3D%22b%22%7D')],
  (random) => [
    'a length that is none',
    post(
      `Content-Length: ${random.pick(['-1', 'x', '1e3', '99999999999999999999', ' ', '1, 2'])}\r\n`,
      'query=1',
    ),
  ],
  () => ['two lengths', post('Content-Length: 7\r\nContent-Length: 8\r\n', 'query=1')],
  () => [
    'a length and chunks',
    post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '5\r\nquery\r\n0\r\n\r\n'),
  ],
  (random) => [
    'chunks that are none',
    post(
      'Transfer-Encoding: chunked\r\n',
      random.pick([
        'zz\r\nquery\r\n',
        'FFFFFFFFFFFFFFFFFF\r\n',
        '-5\r\nquery',
        '5\nquery\n0\n\n',
        '5;'.padEnd(70_000, 'x'),
      ]),
    ),
  ],
  (random) => [
    'an encoding that nobody knows',
    post(`Transfer-Encoding: ${random.pick(['gzip', 'chunked, chunked', 'identity', 'x'])}\r\n`, 'query=1'),
  ],
  (random) => [
    'a body that is packed',
    post(`Content-Encoding: ${random.pick(['gzip', 'zstd', 'deflate'])}\r\nContent-Length: 7\r\n`, 'query=1'),
  ],
  () => ['3,000 headers', `GET ${path} HTTP/1.1\r\n${fields}${'X-A: b\r\n'.repeat(3_000)}\r\n`],
  () => ['a header of 2 MB', `GET ${path} HTTP/1.1\r\n${fields}X-A: ${'b'.repeat(2_000_000)}\r\n\r\n`],
  () => ['a path of 2 MB', `GET /${'a'.repeat(2_000_000)} HTTP/1.1\r\n${fields}\r\n`],
  () => [
    '20,000 parameters',
    `GET /loki/api/v1/query_range?${'a=b&'.repeat(20_000)} HTTP/1.1\r\n${fields}\r\n`,
  ],
  () => ['a form of 100,000 parameters', post('Content-Length: 400000\r\n', 'a=b&'.repeat(100_000))],
  () => ['a body over the bound', post('Content-Length: 12000000\r\n', 'a'.repeat(11_000_000))],
  (random) => [
    'a method',
    `${random.pick(['get', 'TRACE', 'CONNECT', 'PRI', 'M-SEARCH', 'A'.repeat(10_000), 'G E T', '\0', 'é'])} ${path} HTTP/1.1\r\n${fields}\r\n`,
  ],
  (random) => [
    'a version',
    `GET ${path} ${random.pick(['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTP/1.1', ''])}\r\n${fields}\r\n`,
  ],
  (random) => [
    'a target',
    `GET ${random.pick(['*', '//', '/%', '/%00', '/%zz', '/..;/..', 'http://other/loki/api/v1/labels', 'x', '?', '/loki/api/v1/label/%E9/values', '/loki/api/v1/\u00e9', '/a b', '/loki/api/v1/rules/%2e%2e%2fx'])} HTTP/1.1\r\n${fields}\r\n`,
  ],
  (random) => [
    'a tenant',
    `GET /loki/api/v1/labels HTTP/1.1\r\nHost: x\r\nX-Scope-OrgID: ${random.pick(['t1\r\n folded', 't1\0', '\x01', 't1\nX-A: b', '\xff\xfe', '|'.repeat(5_000)])}\r\n\r\n`,
  ],
  () => ['two tenants', `GET /loki/api/v1/labels HTTP/1.1\r\n${fields}X-Scope-OrgID: t2\r\n\r\n`],
  () => ['no host', 'GET /loki/api/v1/labels HTTP/1.1\r\n\r\n'],
  () => ['line feeds alone', `GET ${path} HTTP/1.1\nHost: x\n\n`],
  () => ['a header without a colon', `GET ${path} HTTP/1.1\r\nHost x\r\n\r\n`],
  (random) => [
    'expects',
    post(`Expect: ${random.pick(['100-continue', '200-ok', ''])}\r\nContent-Length: 7\r\n`, 'query=1'),
  ],
  (random) => [
    'an upgrade',
    `GET ${random.pick([path, '/loki/api/v1/tail?query=%7Ba%3D%22b%22%7D', '/api/prom/tail', '/ready'])} HTTP/1.1\r\n${fields}Connection: Upgrade\r\nUpgrade: ${random.pick(['websocket', 'h2c', 'x', ''])}\r\nSec-WebSocket-Version: ${random.pick(['13', '8', 'x'])}\r\nSec-WebSocket-Key: ${random.pick(['dGhlIHNhbXBsZSBub25jZQ==', 'x', ''])}\r\n\r\n`,
    frames(random),
  ],
  () => ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  () => ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
  (random) => ['noise', noise(random, random.pick([1, 100, 10_000, 200_000]))],
  () => ['nothing'],
];

function post(headers: string, body: string): string {
  return `POST /loki/api/v1/query HTTP/1.1\r\n${fields}Content-Type: application/x-www-form-urlencoded\r\n${headers}\r\n${body}`;
}

/** Frames that a broken WebSocket client sends after its handshake. */
function frames(random: Random): Buffer {
  return random.pick([
    Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0, 0, 0, 0, 0]),
    Buffer.from([0x81, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f]),
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0x88, 0x81, 0, 0, 0, 0, 7]),
    Buffer.from([0x89, 0xfe, 0x01, 0x00]),
    noise(random, 500),
  ]);
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

function spoilt(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = random.between(1, 6); times > 0; times -= 1)
    copy[random.below(copy.length)] = random.below(256);
  return copy;
}

export function makeAttack(random: Random): Attack {
  const [name, ...writes] = random.pick(attacks)(random);
  return {
    name,
    writes: writes.map((write) => (typeof write === 'string' ? Buffer.from(write, 'latin1') : write)),
    leaves: random.chance(0.4),
  };
}

const quietMs = 400;
const maxRead = 4_000_000;

/** Runs an attack and returns the responses. */
export async function play(url: string, { writes, leaves }: Attack): Promise<readonly ProxyAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  let size = 0;
  socket.on('data', (chunk) => {
    if (size < maxRead) chunks.push(chunk);
    size += chunk.length;
  });
  socket.on('error', () => undefined);
  for (const bytes of writes) await written(socket, bytes);
  if (leaves) {
    socket.destroy();
    return [];
  }
  await silence(socket);
  socket.destroy();
  return answersIn(Buffer.concat(chunks).toString('latin1'));
}

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else {
      socket.once('close', () => resolve());
      socket.write(bytes, () => resolve());
    }
  });
}

/** Waits until no more data arrives. */
function silence(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    let timer = setTimeout(resolve, quietMs);
    const again = (): void => {
      clearTimeout(timer);
      timer = setTimeout(resolve, quietMs);
    };
    socket.on('data', again).once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Parses bodies with a length; chunked ones count as successful and are not parsed. */
function answersIn(text: string): readonly ProxyAnswer[] {
  const answers: ProxyAnswer[] = [];
  const heads = /HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/g;
  for (const found of text.matchAll(heads)) {
    const headers = found[2] ?? '';
    const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0);
    const from = found.index + found[0].length;
    answers.push({
      status: Number(found[1]),
      contentType: /^content-type: ([^\r\n]*)/im.exec(headers)?.[1] ?? '',
      text: Buffer.from(text.slice(from, from + length), 'latin1').toString('utf8'),
    });
  }
  return answers;
}
