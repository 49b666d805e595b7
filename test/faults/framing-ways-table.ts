import { chunked, head, openChunks, sized, whole, type Action, type BackendReply } from './wire.js';
import type { Way } from './way.js';

const typeOf = ({ contentType }: BackendReply): Readonly<Record<string, string>> => ({
  'Content-Type': contentType,
});
const chunkedHead = (reply: BackendReply): Buffer =>
  head(reply.status, { ...typeOf(reply), 'Transfer-Encoding': 'chunked' });

function good(name: string, actions: (reply: BackendReply) => readonly Action[]): Way {
  return { name, law: 'same', actions };
}

function bad(name: string, actions: (reply: BackendReply) => readonly Action[] | undefined): Way {
  return { name, law: 'same-or-error', actions };
}

function parts(bytes: Buffer, count: number, between: Action): readonly Action[] {
  const size = Math.max(1, Math.ceil(bytes.length / count));
  const actions: Action[] = [];
  for (let at = 0; at < bytes.length; at += size) actions.push(bytes.subarray(at, at + size), between);
  return actions;
}

/** Complete responses with unusual framing; each is valid HTTP. */
const framings: readonly Way[] = [
  good('a length, then the connection closes', (reply) => [sized(reply, { Connection: 'close' }), 'close']),
  good('a length, and the connection stays', (reply) => [sized(reply)]),
  good('no framing but the close', (reply) => [
    head(reply.status, { ...typeOf(reply), Connection: 'close' }),
    reply.body,
    'close',
  ]),
  good('HTTP/1.0 with close', (reply) => [
    head(reply.status, typeOf(reply), 'HTTP/1.0'),
    reply.body,
    'close',
  ]),
  good('chunks of one byte', (reply) => [
    chunkedHead(reply),
    chunked(reply.body.subarray(0, 2_000), 1).subarray(0, -5),
    chunked(reply.body.subarray(2_000)),
  ]),
  good('chunks of seven bytes', (reply) => [chunkedHead(reply), chunked(reply.body, 7)]),
  good('chunks with an extension', (reply) => [
    chunkedHead(reply),
    Buffer.from(`${reply.body.length.toString(16)};name="value"\r\n`),
    reply.body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]),
  good('chunks with a trailer', (reply) => [
    chunkedHead(reply),
    openChunks(reply.body),
    Buffer.from('0\r\nX-Trailer: value\r\n\r\n'),
  ]),
  good('a head that comes slowly', (reply) => [
    ...parts(chunkedHead(reply), 8, { waitMs: 5 }),
    chunked(reply.body),
  ]),
  good('a body that trickles', (reply) => [
    chunkedHead(reply),
    ...parts(chunked(reply.body), 20, { waitMs: 3 }),
  ]),
  good('an interim answer 100', (reply) => [head(100, {}), whole(reply)]),
  good('an interim answer 103', (reply) => [head(103, { Link: '</x>' }), whole(reply)]),
  good('sixty more headers', (reply) => [
    whole(reply, {
      headers: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`X-Header-${at}`, 'v'.repeat(100)])),
    }),
  ]),
];

/** Offsets at which a chunked response can break, each with a name for that place. */
function cutPlaces(reply: BackendReply): readonly (readonly [name: string, at: number])[] {
  const start = chunkedHead(reply).length;
  const size = reply.body.length.toString(16).length + 2;
  const firstRow = reply.body.indexOf('\n');
  const end = whole(reply).length;
  return [
    ['before any byte', 0],
    ['in the status line', 7],
    ['after the status line', chunkedHead(reply).indexOf('\n') + 1],
    ['in a header', chunkedHead(reply).indexOf('\n') + 10],
    ['before the blank line', start - 2],
    ['after the head', start],
    ['in the size of a chunk', start + 1],
    ['after the size of a chunk', start + size],
    ['after one byte of the body', start + size + 1],
    ['after a row', start + size + (firstRow < 0 ? 2 : firstRow + 1)],
    ['in the first row', start + size + Math.floor(Math.max(firstRow, 4) / 2)],
    ['in the middle', start + size + Math.floor(reply.body.length / 2)],
    ['before the last byte of the body', start + size + reply.body.length - 1],
    ['after the body', start + size + reply.body.length],
    ['after the last chunk', end - 5],
    ['in the end of the chunks', end - 3],
  ];
}

const placeNames = cutPlaces({ path: '', status: 200, contentType: '', body: Buffer.from('a\nb\n') }).map(
  ([name]) => name,
);

function cutAt(reply: BackendReply, place: string): Buffer {
  const at = cutPlaces(reply).find(([name]) => name === place)?.[1] ?? 0;
  return whole(reply).subarray(0, at);
}

const cuts: readonly Way[] = placeNames.flatMap((place): readonly Way[] => [
  bad(`closed ${place}`, (reply) => [cutAt(reply, place), 'close']),
  bad(`reset ${place}`, (reply) => [cutAt(reply, place), { waitMs: 1 }, 'reset']),
]);

const hangs: readonly Way[] = [
  'before any byte',
  'in a header',
  'after the head',
  'after a row',
  'in the middle',
  'after the body',
].map((place) => ({
  name: `hangs ${place}`,
  law: 'same-or-error',
  timeoutMs: 1_500,
  actions: (reply) => [cutAt(reply, place), 'hang'],
}));

/** Responses with false framing. */
const lies: readonly Way[] = [
  bad('a length that is too long', (reply) => [
    head(reply.status, { ...typeOf(reply), 'Content-Length': String(reply.body.length + 10) }),
    reply.body,
    'close',
  ]),
  bad('a length cut in the middle', (reply) => [
    sized(reply).subarray(0, sized(reply).length - Math.ceil(reply.body.length / 2)),
    'close',
  ]),
  bad('two lengths', (reply) => [
    Buffer.concat([
      head(reply.status, {
        ...typeOf(reply),
        'Content-Length': String(reply.body.length),
        'content-length': '2',
      }),
      reply.body,
    ]),
    'close',
  ]),
  bad('a length and chunks', (reply) => [
    head(reply.status, { ...typeOf(reply), 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }),
    chunked(reply.body),
    'close',
  ]),
  bad('a length below zero', (reply) => [
    head(reply.status, { ...typeOf(reply), 'Content-Length': '-1' }),
    reply.body,
    'close',
  ]),
  bad('the size of a chunk is no number', (reply) => [
    chunkedHead(reply),
    Buffer.from('zz\r\n'),
    reply.body,
    'close',
  ]),
  bad('a chunk of more bytes than there can be', (reply) => [
    chunkedHead(reply),
    Buffer.from('FFFFFFFFFFFFFFFFF\r\n'),
    reply.body,
    'close',
  ]),
  bad('no HTTP at all', () => [Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'), 'close']),
  bad('a status line that is none', (reply) => [Buffer.from('HTTP/1.1 OK 200\r\n\r\n'), reply.body, 'close']),
  bad('HTTP/2.0 in words', (reply) => [head(200, typeOf(reply), 'HTTP/2.0'), reply.body, 'close']),
  bad('another answer behind it, in chunks', (reply) => [whole(reply), stray(reply)]),
  bad('another answer behind it, with a length', (reply) => [sized(reply), stray(reply)]),
  bad('bytes that belong to nothing behind it', (reply) => [whole(reply), Buffer.from('garbage')]),
  bad('a head without an end', (reply) => [
    chunkedHead(reply).subarray(0, -2),
    ...Array.from({ length: 40 }, () => Buffer.from(`X-More: ${'x'.repeat(2_000)}\r\n`)),
    'close',
  ]),
];

function stray(reply: BackendReply): Buffer {
  const isRows = reply.path.endsWith('/query');
  const body = isRows
    ? '{"_time":"2026-11-01T00:00:01Z","_stream":"{stray=\\"1\\"}","_msg":"stray"}\n'
    : '{"values":[{"value":"stray","hits":"1"}]}';
  return sized({ ...reply, status: 200, body: Buffer.from(body) });
}

export const framingWays: readonly Way[] = [...framings, ...cuts, ...hangs, ...lies];
