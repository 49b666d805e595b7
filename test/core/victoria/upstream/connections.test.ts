import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import test from 'ava';
import { BackendConnections } from '../../../../core/victoria/upstream/connections.js';

const rows = Buffer.from(`{"_time":"2026-11-01T00:00:00Z","_msg":"${'x'.repeat(4000)}"}\n`.repeat(20));
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/stream+json\r\n';

/** Runs a test with a server that sends these bytes for any request. */
async function withAnswer(
  answer: (socket: Socket) => void,
  run: (connections: BackendConnections) => Promise<void>,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const connections = new BackendConnections(`http://127.0.0.1:${port}`, {
    tlsSkipVerify: false,
    max: 5,
    maxKept: 5,
  });
  try {
    await run(connections);
  } finally {
    connections.close();
    server.close();
  }
}

function get(connections: BackendConnections): ReturnType<BackendConnections['request']> {
  const { signal } = new AbortController();
  return connections.request({ method: 'GET', path: '/', headers: {}, body: undefined, signal });
}

/** Reads a body slightly larger than the buffers in between, and only after it has arrived completely. */
async function readLate(connections: BackendConnections): Promise<number> {
  const response = await get(connections);
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
  let size = 0;
  // HTTP bodies yield Buffers unless an encoding is set.
  for await (const chunk of response as AsyncIterable<Buffer>) size += chunk.length;
  return size;
}

const framings: Readonly<Record<string, string>> = {
  'of a told length': `${head}Content-Length: ${rows.length}\r\nConnection: close\r\n\r\n`,
  'ended by the close': `${head}\r\n`,
  'of HTTP/1.0': `HTTP/1.0 200 OK\r\nContent-Type: application/stream+json\r\n\r\n`,
};

for (const [name, start] of Object.entries(framings)) {
  test(`a body ${name}, whose connection is closed behind it, is read to its end by a slow reader`, async (t) => {
    await withAnswer(
      (socket) => {
        socket.write(start);
        socket.end(rows);
      },
      async (connections) => {
        for (let round = 0; round < 5; round += 1) t.is(await readLate(connections), rows.length);
      },
    );
  });
}

test('a body that ends before its told length is an error', async (t) => {
  await withAnswer(
    (socket) => socket.end(`${head}Content-Length: ${rows.length + 1}\r\n\r\n${rows.toString()}`),
    async (connections) => {
      await t.throwsAsync(readLate(connections), { message: 'aborted' });
    },
  );
});

/** Makes every connection that is opened during `run` throw on this event, as a bug of the HTTP client would. */
async function withDefect(event: string, run: () => Promise<void>): Promise<void> {
  const sabotage = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.on(event, () => {
      throw new Error('a defect');
    });
  };
  subscribe('net.client.socket', sabotage);
  try {
    await run();
  } finally {
    unsubscribe('net.client.socket', sabotage);
  }
}

for (const event of ['connect', 'data', 'end']) {
  test.serial(`what is thrown while a connection is served (${event}) fails its request only`, async (t) => {
    await withAnswer(
      (socket) => {
        socket.write(`${head}Content-Length: 5\r\nConnection: close\r\n\r\n{}`);
        setImmediate(() => socket.end(event === 'end' ? '' : '{}\n'));
      },
      async (connections) => {
        await withDefect(event, async () => {
          const asked = get(connections).then(async (response) => {
            await once(response.resume(), 'end');
          });
          await t.throwsAsync(asked);
        });
      },
    );
  });
}
