/** The request headers for bodies of the backend, and the errors that clients see. */
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import test from 'ava';
import { CircuitBreaker } from '../../../../core/base/admission/circuit-breaker.js';
import { BackendClient, type ClientOptions } from '../../../../core/victoria/upstream/client.js';

/** The body that a client reads for one call. */
async function textFrom(listener: RequestListener, options: Partial<ClientOptions>): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const times = { breakerOpenDuration: 60_000, breakerWindowDuration: 60_000 };
  const client = new BackendClient(
    {
      url: `http://127.0.0.1:${port}`,
      timeout: 30_000,
      compression: 'auto',
      tlsSkipVerify: false,
      maxConcurrent: 10,
      maxBufferedResponseBytes: 1000,
      maxRowBytes: 1000,
      ...options,
    },
    new CircuitBreaker({ breakerFailThreshold: 2, ...times }, { monotonicMs: () => 0 }),
  );
  try {
    const answer = await client.call({
      path: '/select/logsql/query',
      method: 'POST',
      form: [],
      headers: {},
      signal: new AbortController().signal,
      statusRule: 'keep',
      isJson: true,
    });
    return await answer.text();
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
}

test('zstd is asked for where Node has it, and gzip where not', async (t) => {
  const compress: unknown = Reflect.get(zlib, 'zstdCompressSync');
  const hasZstd = typeof compress === 'function';
  const row = Buffer.from('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n');
  const text = await textFrom(
    (asked, response) => {
      t.is(asked.headers['accept-encoding'], hasZstd ? 'zstd, gzip' : 'gzip');
      response.setHeader('content-type', 'application/stream+json');
      response.setHeader('content-encoding', hasZstd ? 'zstd' : 'gzip');
      response.end(hasZstd ? (compress as (bytes: Buffer) => Buffer)(row) : zlib.gzipSync(row));
    },
    { compression: 'zstd' },
  );
  t.is(text, row.toString());
});

test('texts of the backend are shown whole where queries may be', async (t) => {
  const text = 'cannot parse query {app="customer 4711"}';
  for (const [showsRawErrors, message] of [
    [false, 'cannot parse query {...}'],
    [true, text],
  ] as const)
    await t.throwsAsync(
      textFrom((_asked, response) => response.writeHead(400).end(text), { showsRawErrors }),
      { message },
    );
});
