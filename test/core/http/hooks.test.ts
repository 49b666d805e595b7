import { spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { addressIn, main } from '../program/child.js';

const thrower = fileURLToPath(new URL('thrower.js', import.meta.url));
const tls = join(packageRoot(), 'test/data/tls');
const tlsFlags = [
  `-tls-cert-file=${join(tls, 'server.pem')}`,
  `-tls-key-file=${join(tls, 'server.key')}`,
  `-tls-client-ca-file=${join(tls, 'ca.pem')}`,
];
/** Time for the client to go on after a hook has thrown, because it may never receive a response. */
const restMs = 200;

interface Told {
  readonly hooks: readonly string[];
  readonly thrown: readonly string[];
}

/** Writes to a connection and reads until it ends. */
async function raw(url: string, signal: AbortSignal, ...texts: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  signal.addEventListener('abort', () => socket.destroy());
  socket.on('error', () => undefined).resume();
  for (const text of texts) socket.write(text);
  await once(socket, 'close');
}

const head = 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';

/** A proxy in front of a backend that cuts all connections to it on request. */
async function relay(
  t: ExecutionContext,
  url: string,
): Promise<{ readonly url: string; readonly cut: () => void }> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const each of [socket, onward]) open.add(each.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    cut();
  });
  // A server that listens on TCP has an AddressInfo.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

/** Everything that a client can do, all at once. */
async function doEverything(url: string, signal: AbortSignal): Promise<void> {
  setMaxListeners(0, signal);
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 2, connections: 1 });
  const ask = async (path: string, body: string | null = null): Promise<void> => {
    const method = body === null ? 'GET' : 'POST';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request(url + path, { dispatcher, method, body, headers, signal });
    await answer.body.dump();
  };
  const query = `/loki/api/v1/query_range?query=${encodeURIComponent('{app="a"}')}`;
  const tail = async (): Promise<void> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?query={app="a"}`, {
      rejectUnauthorized: false,
    });
    signal.addEventListener('abort', () => socket.terminate());
    const closed = once(socket, 'close');
    socket.once('open', () => {
      socket.ping();
      socket.send('x');
    });
    socket.once('pong', () => socket.close());
    socket.on('error', () => undefined);
    await closed;
  };
  const websocket =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  await Promise.allSettled([
    ask('/loki/api/v1/status/buildinfo').then(() => ask('/loki/api/v1/status/buildinfo')),
    ask(query).then(() => ask(query)),
    ask('/loki/api/v1/query_range', `query=${encodeURIComponent('{app="a"}')}`),
    ask('/loki/api/v1/labels'),
    ask('/loki/api/v1/query_range', 'x'.repeat(11 * 2 ** 20)),
    tail(),
    ...(url.startsWith('https:')
      ? []
      : [
          raw(url, signal, 'no HTTP\r\n\r\n'),
          raw(url, signal, `GET /alive ${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`),
          raw(
            url,
            signal,
            `GET /loki/api/v1/tail?query=%7Bapp%3D%22a%22%7D ${head}${websocket}\r\n`,
            'x'.repeat(20_000),
          ),
          raw(url, signal, `GET /loki/api/v1/tail?query=broken ${head}${websocket}\r\n`),
          raw(url, signal, `GET ${query} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(100), `GET /alive ${head}\r\n`),
          raw(
            url,
            signal,
            `POST ${query} ${head}Content-Length: ${11 * 2 ** 20}\r\n\r\n`,
            'x'.repeat(11 * 2 ** 20),
          ),
        ]),
  ]);
  await dispatcher.destroy();
}

for (const [name, flags] of [
  ['http', []],
  ['https', tlsFlags],
] as const) {
  test.serial(`nothing that a hook of a connection throws ends the process: ${name}`, async (t) => {
    t.timeout(10 * 60_000);
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const { url: backendUrl, cut } = await relay(t, backend.url);
    const rows = { _time: new Date().toISOString(), _msg: 'line', app: 'a' };
    const pushed = await request(`${backend.url}/insert/jsonline?_stream_fields=app`, {
      method: 'POST',
      body: JSON.stringify(rows),
    });
    await pushed.body.dump();
    const child = spawn(
      process.execPath,
      [
        '--import',
        thrower,
        main,
        'serve',
        `-backend=${backendUrl}`,
        '-listen=127.0.0.1:0',
        '-admin-listen=127.0.0.1:0',
        '-rate-limit-per-second=0',
        // The test cuts connections to the backend all the time.
        '-cb-fail-threshold=1000000',
        ...flags,
      ],
      { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
    );
    t.teardown(() => child.kill('SIGKILL'));
    const url = await addressIn(child.stdout ?? t.fail());
    child.stdout?.resume();
    let onThrow: () => void = () => undefined;
    let onTold: (told: Told) => void = () => undefined;
    child.on('message', (message: Told | { readonly threw: string }) => {
      if ('threw' in message) onThrow();
      else onTold(message);
    });
    const arm = (hook: string): Promise<Told> => {
      child.send(hook);
      return new Promise((resolve) => (onTold = resolve));
    };
    const isServing = async (): Promise<boolean> => {
      const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
      try {
        const { statusCode, body } = await request(`${url}/alive`, { dispatcher });
        await body.dump();
        return statusCode === 200;
      } finally {
        await dispatcher.destroy();
      }
    };
    t.true(await isServing(), 'although Node throws for its headers');
    await doEverything(url, new AbortController().signal);
    cut();
    const { hooks } = await arm('');
    for (const hook of hooks) {
      await arm(hook);
      const ended = new AbortController();
      onThrow = () => setTimeout(() => ended.abort(), restMs);
      await doEverything(url, ended.signal);
      cut();
      await arm('');
      t.true(await isServing(), hook);
      t.is(child.exitCode, null, hook);
    }
    const { thrown } = await arm('');
    // At least one hook of each kind of object has thrown.
    for (const kind of ['Server', 'Socket', 'OutgoingMessage', 'WebSocket', 'IncomingMessage'])
      t.true(
        thrown.some((hook) => hook.startsWith(`${kind} `)),
        `${kind}: ${thrown.join(', ')}`,
      );
  });
}
