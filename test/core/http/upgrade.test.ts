import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'ava';
import { WebSocket } from 'ws';
import { startProxy } from '../../../core/program/start-proxy.js';
import {
  apiError,
  defineEndpoint,
  type EndpointPlugin,
  type UpgradeHandler,
} from '../../../core/plugin/index.js';
import { CapturedLog, makePipeline, withPipeline } from '../../../core/testing/index.js';
import { gate, telling } from './fixtures.js';

/** An endpoint that upgrades the route of tails. */
function upgrading(handler: UpgradeHandler): EndpointPlugin {
  return defineEndpoint({
    name: 'fixture',
    summary: 'Upgrades of a test.',
    create: () => ({
      routes: new Map([['query', telling]]),
      upgrades: new Map([['tail', handler]]),
    }),
  });
}

function open(url: string): WebSocket {
  return new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?query=x`);
}

/** Sends a request unchanged and reads the response to the end of the connection. */
async function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

test('a handler sends frames, and its end closes the WebSocket', async (t) => {
  const handler: UpgradeHandler = async (call) => {
    const socket = await call.accept();
    await socket.send(`${call.route} ${call.params.get('query')?.[0] ?? ''}`);
  };
  await withPipeline(makePipeline({ endpoints: [upgrading(handler)] }), async ({ url, log }) => {
    const socket = open(url);
    const closed = once(socket, 'close');
    const [data] = (await once(socket, 'message')) as [Buffer];
    t.is(data.toString(), 'tail x');
    const [code] = (await closed) as [number];
    t.is(code, 1000);
    const record = await log.find((line) => line.get('ref.request.type') === 'tail');
    t.is(record.get('http.response.status_code'), 101);
  });
});

test('what a handler throws is an HTTP error before the handshake, and a reason after it', async (t) => {
  const early = upgrading(() => Promise.reject(apiError('tooManyConcurrent', {})));
  await withPipeline(makePipeline({ endpoints: [early] }), async ({ url }) => {
    const [, response] = (await once(open(url), 'unexpected-response')) as [
      unknown,
      { statusCode: number; headers: object },
    ];
    t.is(response.statusCode, 503);
    t.like(response.headers, { 'retry-after': '5', 'x-content-type-options': 'nosniff' });
  });
  const late = upgrading(async (call) => {
    await call.accept();
    throw apiError('badRequest', { text: 'ü'.repeat(100) });
  });
  await withPipeline(makePipeline({ endpoints: [late] }), async ({ url }) => {
    const [code, reason] = (await once(open(url), 'close')) as [number, Buffer];
    t.is(code, 1011);
    t.is(reason.toString(), 'ü'.repeat(61));
  });
});

test('a defect shows nothing of itself', async (t) => {
  const broken = upgrading(async (call) => {
    await call.accept();
    throw new Error('secret');
  });
  await withPipeline(makePipeline({ endpoints: [broken] }), async ({ url }) => {
    const [code, reason] = (await once(open(url), 'close')) as [number, Buffer];
    t.is(code, 1011);
    t.regex(reason.toString(), /^internal error in endpoint "[^"]+" \(plugin "[^"]+"\)$/);
  });
});

test('a client that leaves during the handshake ends the call', async (t) => {
  const arrived = gate();
  const ended = gate();
  const slow = upgrading(async ({ signal }) => {
    signal.addEventListener('abort', () => ended.open());
    arrived.open();
    await ended.opened;
    signal.throwIfAborted();
  });
  await withPipeline(makePipeline({ endpoints: [slow] }), async ({ url }) => {
    const socket = open(url);
    socket.on('error', () => undefined);
    await arrived.opened;
    socket.terminate();
    await ended.opened;
    t.pass();
  });
});

test('a stop refuses a handshake under way and does not wait for a WebSocket to end', async (t) => {
  const arrived = gate();
  const never = new Promise<void>(() => undefined);
  let calls = 0;
  const handler: UpgradeHandler = async (call) => {
    calls += 1;
    if (calls === 1) {
      await call.accept();
      return never;
    }
    arrived.open();
    return new Promise((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(apiError('internal', {})));
    });
  };
  const pipeline = makePipeline({ endpoints: [upgrading(handler)] });
  const proxy = await startProxy(pipeline, { logTo: new CapturedLog() });
  const first = open(proxy.urls.main);
  await once(first, 'open');
  const closed = once(first, 'close');
  const second = open(proxy.urls.main);
  const refused = once(second, 'unexpected-response');
  await arrived.opened;
  await proxy.close();
  const [code] = (await closed) as [number];
  t.is(code, 1001);
  const [, response] = (await refused) as [unknown, { statusCode: number }];
  t.is(response.statusCode, 503);
});

test('who asks for another protocol, or on another path, is answered in HTTP', async (t) => {
  await withPipeline(makePipeline({ endpoints: [upgrading(() => Promise.resolve())] }), async ({ url }) => {
    const headers =
      'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const plain = await raw(url, `GET /loki/api/v1/query?query=1 HTTP/1.1\r\n${headers}\r\n`);
    t.true(plain.startsWith('HTTP/1.1 200 '), plain);
    t.true(plain.includes('"route":"query"'));
    t.true((await raw(url, `GET /nothing HTTP/1.1\r\n${headers}\r\n`)).startsWith('HTTP/1.1 404 '));
    const post = await raw(url, `POST /loki/api/v1/query HTTP/1.1\r\n${headers}Content-Length: 3\r\n\r\na=b`);
    t.true(post.startsWith('HTTP/1.1 400 '), post);
  });
});

test('a client that sends before it may is cut when it sends much', async (t) => {
  const never = new Promise<void>(() => undefined);
  await withPipeline(makePipeline({ endpoints: [upgrading(() => never)] }), async ({ url }) => {
    const headers =
      'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const answer = await raw(
      url,
      `GET /loki/api/v1/tail HTTP/1.1\r\n${headers}\r\n${'x'.repeat(100_000)}`,
    ).catch(() => '');
    t.is(answer, '');
  });
});
