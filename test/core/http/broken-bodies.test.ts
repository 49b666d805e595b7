import { connect } from 'node:net';
import test from 'ava';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import type { Answer } from '../../../core/plugin/index.js';
import { gate, serving, telling, text } from './fixtures.js';

const head = [
  'POST /loki/api/v1/query HTTP/1.1',
  'Host: x',
  'Content-Type: application/x-www-form-urlencoded',
].join('\r\n');

/** Malformed or incomplete bodies, each with the response if the client still listens, and the status in the log. */
const broken: readonly (readonly [title: string, request: string, answer: RegExp, status: number])[] = [
  [
    'a chunk length that is none',
    `${head}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nquery\r\n`,
    /^HTTP\/1\.1 400 /,
    400,
  ],
  [
    'a chunk longer than it says',
    `${head}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nquery\r\n0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
    400,
  ],
  [
    'an upload that breaks off',
    `${head}\r\nContent-Length: 100\r\n\r\nquery=x`,
    /^(?:HTTP\/1\.1 400 |$)/,
    400,
  ],
];
for (const [title, raw, answer, status] of broken) {
  test.serial(`${title} is the client’s error: no stack, no alarm`, async (t) => {
    const pipeline = makePipeline({ endpoints: [serving({ query: telling })] });
    const log = await withPipeline(pipeline, async ({ url, log }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.end(raw);
      let said = '';
      for await (const chunk of socket) said += String(chunk);
      t.regex(said, answer);
      const record = await log.find((line) => line.get('ref.request.type') === 'query');
      t.is(record.get('http.response.status_code'), status);
      t.is(record.get('error.message'), 'cannot read the request body: it is incomplete or malformed');
      return log;
    });
    t.deepEqual(
      log.records.filter((record) => record.has('error') || record.get('severity.text') === 'ERROR'),
      [],
    );
  });
}

test.serial('a client that sends more headers than may be gets its answer', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ query: telling })] }), async ({ url }) => {
    for (let time = 0; time < 5; time += 1) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const text = `GET /loki/api/v1/query?query=${'x'.repeat(6_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
      // Reads only after it has sent everything, because closing the connection earlier would lose the response.
      await new Promise((resolve) => socket.write(text, resolve));
      let said = '';
      for await (const chunk of socket) said += String(chunk);
      t.regex(said, /^HTTP\/1\.1 431 /);
    }
  });
});

/** Responses that close their connection while the request is still being sent. */
const refusedEarly: readonly (readonly [
  title: string,
  server: Record<string, number>,
  start: string,
  status: number,
])[] = [
  [
    'a body that is announced as too long',
    { httpMaxBodyBytes: 1_000 },
    `${head}\r\nContent-Length: 6000000\r\n\r\n`,
    413,
  ],
  [
    'a body of chunks that grows too long',
    { httpMaxBodyBytes: 1_000 },
    `${head}\r\nTransfer-Encoding: chunked\r\n\r\n5B8D80\r\n`,
    413,
  ],
  [
    'a body that nobody reads, on a connection that has had its requests',
    { httpConnMaxRequests: 1 },
    'GET /loki/api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n\r\n',
    200,
  ],
];
for (const [title, server, start, status] of refusedEarly) {
  test.serial(`${title}: the client gets its answer all the same`, async (t) => {
    const pipeline = makePipeline({ endpoints: [serving({ query: telling })], server });
    await withPipeline(pipeline, async ({ url }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      await new Promise((resolve) => socket.write(start + 'x'.repeat(6_000_000), resolve));
      let said = '';
      for await (const chunk of socket) said += String(chunk);
      t.true(said.startsWith(`HTTP/1.1 ${status} `), said.slice(0, 100));
      t.regex(said, /\r\nConnection: close\r\n/);
      t.regex(said, /\r\nContent-Length: /);
    });
  });
}

test.serial('what is no HTTP behind a request that is whole does not take its answer away', async (t) => {
  const opened = gate();
  const slowly = async (): Promise<Answer> => {
    await opened.opened;
    return text('answered');
  };
  const pipeline = makePipeline({ endpoints: [serving({ query: slowly })] });
  await withPipeline(pipeline, async ({ url }) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const start = 'GET /loki/api/v1/query HTTP/1.1\r\nHost: x\r\n\r\n';
    await new Promise((resolve) => socket.write(start + 'x'.repeat(1_000_000), resolve));
    setTimeout(() => opened.open(), 50);
    let said = '';
    for await (const chunk of socket) said += String(chunk);
    t.regex(said, /^HTTP\/1\.1 200 [\s\S]*answeredHTTP\/1\.1 400 /);
  });
});
