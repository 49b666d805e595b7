import { connect } from 'node:net';
import test from 'ava';
import { Client, request } from 'undici';
import { startProxy } from '../../../core/program/start-proxy.js';
import { CapturedLog, makePipeline, withPipeline } from '../../../core/testing/index.js';
import { gate, serving, telling, text } from './fixtures.js';

test('a client that goes away ends everything started for it, and the log says 499', async (t) => {
  const arrived = gate();
  const ended = gate();
  const slow = serving({
    query: (call) => {
      call.signal.addEventListener('abort', () => ended.open());
      arrived.open();
      return new Promise(() => undefined);
    },
  });
  await withPipeline(makePipeline({ endpoints: [slow] }), async ({ url, log }) => {
    const client = new AbortController();
    const asking = request(`${url}/loki/api/v1/query`, { signal: client.signal });
    await arrived.opened;
    client.abort();
    await t.throwsAsync(asking, { any: true });
    await ended.opened;
    const record = await log.find((line) => line.get('ref.request.type') === 'query');
    t.is(record.get('http.response.status_code'), 499);
  });
});

test('a stop lets a running request finish and closes its connection', async (t) => {
  const arrived = gate();
  const finish = gate();
  const slow = serving({
    query: async () => {
      arrived.open();
      await finish.opened;
      return text('done');
    },
  });
  const proxy = await startProxy(makePipeline({ endpoints: [slow] }), { logTo: new CapturedLog() });
  const asking = request(`${proxy.urls.main}/loki/api/v1/query`);
  await arrived.opened;
  const closing = proxy.close();
  finish.open();
  const { statusCode, headers, body } = await asking;
  t.is(statusCode, 200);
  t.is(headers['connection'], 'close');
  t.is(await body.text(), 'done');
  await closing;
  await t.throwsAsync(request(`${proxy.urls.main}/loki/api/v1/query`));
});

test('a request that outlasts the drain bound gets a clear error and plugins stop after it', async (t) => {
  const arrived = gate();
  const slow = serving({
    query: () => {
      arrived.open();
      return new Promise(() => undefined);
    },
  });
  const pipeline = makePipeline({ endpoints: [slow], server: { drainTimeout: '20ms' } });
  const proxy = await startProxy(pipeline, { logTo: new CapturedLog() });
  const asking = request(`${proxy.urls.main}/loki/api/v1/query`);
  await arrived.opened;
  const closing = proxy.close();
  const { statusCode, body } = await asking;
  t.is(statusCode, 503);
  t.like(await body.json(), { errorType: 'timeout', error: 'server is shutting down' });
  await closing;
});

test('a request over the write timeout gets Loki’s timeout text', async (t) => {
  const hanging = serving({ query: () => new Promise(() => undefined) });
  const pipeline = makePipeline({ endpoints: [hanging], server: { httpWriteTimeout: '20ms' } });
  await withPipeline(pipeline, async ({ url }) => {
    const { statusCode, body } = await request(`${url}/loki/api/v1/query`);
    t.is(statusCode, 504);
    t.regex(JSON.stringify(await body.json()), /request timed out, decrease the duration of the request/);
  });
});

test('a port in use is an error that names flag and address', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ ready: telling })] }), async ({ url }) => {
    const listen = url.replace('http://', '');
    const second = makePipeline({ endpoints: [serving({ ready: telling })], server: { listen } });
    const error = await t.throwsAsync(startProxy(second, { logTo: new CapturedLog() }));
    t.is(
      error.message,
      `-listen: cannot listen on ${listen}: address already in use; stop the process that listens there, or set -listen to another address`,
    );
  });
});

test('admin routes on an address that others reach need a token', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ debug_queries: telling })],
    server: { adminListen: '0.0.0.0:0' },
  });
  const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.regex(error.message, /^server\.admin-auth-token is required/);
});

test('a metrics listener without instrumentation is refused', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ metrics: telling })],
    server: { metricsListen: '127.0.0.1:0' },
  });
  const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.regex(error.message, /^--metrics-listen=127\.0\.0\.1:0 requires -server\.register-instrumentation=true/);
});

test('a connection is closed after its share of requests', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ ready: telling })],
    server: { httpConnMaxRequests: 2 },
  });
  await withPipeline(pipeline, async ({ url }) => {
    const seen: (string | string[] | undefined)[] = [];
    const client = new Client(url);
    for (let index = 0; index < 3; index += 1) {
      const { headers, body } = await client.request({ path: '/ready', method: 'GET' });
      seen.push(headers['connection']);
      await body.dump();
    }
    await client.close();
    t.deepEqual(seen, ['keep-alive', 'close', 'keep-alive']);
  });
});

test('a client that never ends its headers is cut off', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ ready: telling })],
    server: { httpReadHeaderTimeout: '10ms' },
  });
  await withPipeline(pipeline, async ({ url }) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /ready HTTP/1.1\r\nHost: x\r\n');
    let said = '';
    for await (const chunk of socket) said += String(chunk);
    t.regex(said, /^HTTP\/1\.1 408 /);
  });
});

test('a path that cannot be decoded and a request that is none harm nothing', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ label_values: telling })] }), async ({ url }) => {
    for (const raw of ['GET /loki/api/v1/label/%zz/values HTTP/1.1', 'GET //%00 HTTP/1.1', 'NONSENSE']) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(`${raw}\r\nHost: x\r\nConnection: close\r\n\r\n`);
      let said = '';
      for await (const chunk of socket) said += String(chunk);
      t.regex(said, /^HTTP\/1\.1 (?:200|301|400|404) /, raw);
    }
    const { statusCode, body } = await request(`${url}/loki/api/v1/label/a/values`);
    t.is(statusCode, 200);
    await body.dump();
  });
});

/** The server's reply to these bytes, until it closes the connection or has answered twice. */
async function saidTo(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(text);
  let said = '';
  for await (const chunk of socket) {
    said += String(chunk);
    if (said.split('HTTP/1.1 ').length > 2) break;
  }
  return said;
}

test('a request of an odd version, or with two hosts, is refused', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ ready: telling })] }), async ({ url }) => {
    for (const [head, status] of [
      ['GET /ready HTTP/1.1\r\nHost: a\r\nHost: b', 400],
      ['GET /ready HTTP/1.1\r\nHost: a\r\nhost: a', 400],
      ['GET /ready HTTP/2.0\r\nHost: a', 505],
      ['GET /ready', 505],
      ['GET /ready HTTP/1.0', 200],
    ] as const)
      t.regex(
        await saidTo(url, `${head}\r\nConnection: close\r\n\r\n`),
        new RegExp(`^HTTP/1.1 ${status} `),
        head,
      );
  });
});

test('after a chunked request of HTTP/1.0 the connection is closed', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ labels: telling })] }), async ({ url }) => {
    const head = 'POST /loki/api/v1/labels HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked';
    const said = await saidTo(url, `${head}\r\n\r\n0\r\n\r\n`.repeat(2));
    t.regex(said, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    t.is(said.split('HTTP/1.1 ').length, 2, said);
  });
});
