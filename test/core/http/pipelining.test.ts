import { connect, type Socket } from 'node:net';
import test from 'ava';
import { request } from 'undici';
import { startProxy } from '../../../core/program/start-proxy.js';
import type { EndpointPlugin } from '../../../core/plugin/index.js';
import { CapturedLog, makePipeline, withPipeline } from '../../../core/testing/index.js';
import { gate, serving, text } from './fixtures.js';

/**
 * An endpoint whose queries never end by themselves; `arrived` resolves once `wanted` of them run, `ended` once as many have been aborted.
 */
function hanging(wanted: number): {
  readonly endpoint: EndpointPlugin;
  readonly arrived: Promise<void>;
  readonly ended: Promise<void>;
} {
  const [arrived, ended] = [gate(), gate()];
  let [running, aborted] = [0, 0];
  const endpoint = serving({
    alive: () => Promise.resolve(text('alive')),
    query: ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted += 1;
        if (aborted === wanted) ended.open();
      });
      running += 1;
      if (running === wanted) arrived.open();
      return new Promise(() => undefined);
    },
  });
  return { endpoint, arrived: arrived.opened, ended: ended.opened };
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

const query = 'GET /loki/api/v1/query?query=x HTTP/1.1\r\nHost: x\r\n\r\n';
const alive = 'GET /alive HTTP/1.1\r\nHost: x\r\n\r\n';

async function readAll(socket: Socket): Promise<string> {
  let said = '';
  for await (const chunk of socket) said += String(chunk);
  return said;
}

test('all pipelined requests of a client that leaves are ended and counted out, and a stop does not wait for them', async (t) => {
  const { endpoint, arrived, ended } = hanging(40);
  const log = new CapturedLog();
  // Without a time limit, a stop would wait for requests that are never counted as finished.
  const pipeline = makePipeline({ endpoints: [endpoint], server: { drainTimeout: '1h' } });
  const proxy = await startProxy(pipeline, { logTo: log });
  const socket = open(proxy.urls.main);
  socket.write(query.repeat(40));
  await arrived;
  socket.destroy();
  await ended;
  await proxy.close();
  const records = log.records.filter((record) => record.get('ref.request.type') === 'query');
  t.is(records.length, 40);
  t.true(records.every((record) => record.get('http.response.status_code') === 499));
});

test('a pipelined answer that waits behind another one is counted out with its client as well', async (t) => {
  const { endpoint, arrived, ended } = hanging(1);
  await withPipeline(makePipeline({ endpoints: [endpoint] }), async ({ url, log }) => {
    const socket = open(url);
    socket.write(query + alive);
    await arrived;
    // One response after the other, on a connection of its own.
    await (await request(`${url}/alive`)).body.dump();
    socket.destroy();
    await ended;
    const record = await log.find((line) => line.get('url.path') === '/alive');
    t.is(record.get('http.response.status_code'), 499);
  });
});

test('one pipelined request too many is told so in its turn and ends the connection', async (t) => {
  const first = gate();
  const endpoint = serving({
    query: async () => {
      await first.opened;
      return text('first');
    },
    alive: () => Promise.resolve(text('alive')),
  });
  const pipeline = makePipeline({ endpoints: [endpoint], server: { httpConnMaxPipelined: 2 } });
  await withPipeline(pipeline, async ({ url, log }) => {
    const socket = open(url);
    socket.write(query + alive.repeat(3));
    const reading = readAll(socket);
    await (await request(`${url}/alive`)).body.dump();
    first.open();
    const statuses = [...(await reading).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    t.deepEqual(statuses, ['200', '200', '429']);
    const refused = await log.find((line) => line.get('http.response.status_code') === 429);
    t.is(
      refused.get('error.message'),
      'this connection has 2 requests without a response; use more connections, or raise -http-conn-max-pipelined',
    );
  });
});

test('a client that floods a connection with requests is cut and nothing of it is left', async (t) => {
  const { endpoint, ended } = hanging(64);
  const log = new CapturedLog();
  const pipeline = makePipeline({ endpoints: [endpoint], server: { drainTimeout: '1h' } });
  const proxy = await startProxy(pipeline, { logTo: log });
  const socket = open(proxy.urls.main);
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(query.repeat(4_000));
  await closed;
  await ended;
  await proxy.close();
  t.is(log.records.filter((record) => record.get('url.path') === '/loki/api/v1/query').length, 65);
});

test('a client that does not read its answer is cut at the write timeout', async (t) => {
  const endpoint = serving({ query: () => Promise.resolve(text('x'.repeat(64 * 1024 * 1024))) });
  const pipeline = makePipeline({
    endpoints: [endpoint],
    server: { httpWriteTimeout: '20ms', drainTimeout: '1h' },
  });
  const log = new CapturedLog();
  const proxy = await startProxy(pipeline, { logTo: log });
  const socket = open(proxy.urls.main);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(query);
  const record = await log.find((line) => line.get('ref.request.type') === 'query');
  t.is(record.get('http.response.status_code'), 499);
  await proxy.close();
  socket.destroy();
});
