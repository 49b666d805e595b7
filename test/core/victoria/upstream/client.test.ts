import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { everything, exact, query } from '../../../../core/victoria/logsql/build.js';
import { Trace } from '../../../../core/base/trace.js';
import { BoundUpstream, type Binding } from '../../../../core/victoria/upstream/bound.js';
import { CircuitBreaker } from '../../../../core/base/admission/circuit-breaker.js';
import { BackendClient, type ClientOptions } from '../../../../core/victoria/upstream/client.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Setup {
  readonly upstream: BoundUpstream;
  readonly client: BackendClient;
  readonly binding: Binding;
  readonly trace: Trace;
  readonly breaker: CircuitBreaker;
  readonly controller: AbortController;
}

/** Runs a test with a fake backend. */
async function withBackend(
  handler: Handler,
  run: (setup: Setup) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    response.setHeader('content-type', 'application/stream+json');
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => handler(request, response, Buffer.concat(parts).toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  try {
    await withClient(`http://127.0.0.1:${port}/base/`, run, options);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function withClient(
  url: string,
  run: (setup: Setup) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  const times = { breakerOpenDuration: 60_000, breakerWindowDuration: 60_000 };
  const breaker = new CircuitBreaker({ breakerFailThreshold: 2, ...times }, { monotonicMs: () => 0 });
  const settings: ClientOptions = {
    url,
    timeout: 30_000,
    compression: 'auto',
    tlsSkipVerify: false,
    maxConcurrent: 10,
    maxBufferedResponseBytes: 1000,
    maxRowBytes: 1000,
    ...options,
  };
  const client = new BackendClient(settings, breaker);
  const controller = new AbortController();
  const trace = new Trace();
  const binding = {
    signal: controller.signal,
    trace,
    headers: { accountid: '11' },
    parameters: [['extra', 'x']] as const,
    dataOwner: '',
    scope: exact('org', 'x'),
  };
  try {
    await run({ upstream: new BoundUpstream(client, binding), client, binding, trace, breaker, controller });
  } finally {
    await client.close();
  }
}

const request = {
  query: query(everything),
  range: { startNs: 1793491200000000000n, endNs: 1793491200000000001n },
};

async function collect(upstream: BoundUpstream): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  for await (const batch of upstream.rows({ ...request, newest: 5 })) rows.push(...batch);
  return rows;
}

async function failureOf(t: ExecutionContext, work: Promise<unknown>): Promise<ApiError> {
  const error = await t.throwsAsync(work);
  if (error instanceof ApiError) return error;
  throw new Error('expected an ApiError', { cause: error });
}

test('rows are asked for as a POST form with tenant headers, and traced', async (t) => {
  await withBackend(
    (asked, response, body) => {
      t.is(asked.url, '/base/select/logsql/query');
      t.is(asked.headers['accountid'], '11');
      t.is(asked.headers['accept-encoding'], 'identity');
      t.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
        query: '*',
        start: '1793491200000000000',
        end: '1793491200000000001',
        limit: '5',
        allow_partial_response: '0',
        extra: 'x',
      });
      response.end('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n{"_time":"2026-11-01T00:00:00.5Z","a":"c"}\n');
    },
    async ({ upstream, trace }) => {
      t.deepEqual(await collect(upstream), [
        { _time: '2026-11-01T00:00:00Z', a: 'b' },
        { _time: '2026-11-01T00:00:00.5Z', a: 'c' },
      ]);
      const [call] = trace.upstreamCalls;
      t.is(call?.type, 'query');
      t.is(call?.status, 200);
      t.is(call?.rows, 2);
      t.is(call?.bytes, 84);
    },
  );
});

test('a time that a bare number would not say is written out', async (t) => {
  await withBackend(
    (_asked, response, body) => {
      t.is(new URLSearchParams(body).get('start'), '1970-01-01T00:00:00.000000005Z');
      response.end('{"values":[]}');
    },
    async ({ upstream }) => {
      await upstream.list({
        listing: 'streams',
        query: query(everything),
        range: { startNs: 5n, endNs: 10n },
      });
    },
  );
});

test('packed answers are unpacked', async (t) => {
  await withBackend(
    (asked, response) => {
      t.is(asked.headers['accept-encoding'], 'gzip');
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n'));
    },
    async ({ upstream }) => {
      t.deepEqual(await collect(upstream), [{ _time: '2026-11-01T00:00:00Z', a: 'b' }]);
    },
    { compression: 'gzip' },
  );
});

test('a refusal keeps its status, or is 502 as the request has it, whatever the call is', async (t) => {
  for (const statusRule of ['keep', 'gateway'] as const)
    await withBackend(
      (_asked, response) => response.writeHead(400).end('cannot parse query'),
      async ({ client, binding, breaker, trace }) => {
        const status = statusRule === 'keep' ? 400 : 502;
        const upstream = new BoundUpstream(client, { ...binding, statusRule });
        t.is((await failureOf(t, collect(upstream))).status, status);
        t.is((await failureOf(t, upstream.list({ ...request, listing: 'streams' }))).status, status);
        t.is((await failureOf(t, upstream.stats(request))).status, status);
        t.is(breaker.state, 'closed');
        t.is(trace.upstreamCalls[0]?.status, status);
      },
    );
});

test('an answer that is broken off is a timeout, never a short result', async (t) => {
  await withBackend(
    (_asked, response) => {
      response.write('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n');
      setImmediate(() => response.destroy());
    },
    async ({ upstream, breaker }) => {
      t.is((await failureOf(t, collect(upstream))).status, 504);
      t.is((await failureOf(t, collect(upstream))).status, 504);
      t.is(breaker.state, 'closed');
    },
  );
});

test('broken chunk framing is a timeout', async (t) => {
  await withBackend(
    (_asked, response) => {
      response.write('{"values":[]}');
      response.socket?.write('the connection has been aborted; see the last line\r\n');
      response.socket?.end();
    },
    async ({ upstream }) => {
      t.is((await failureOf(t, upstream.list({ ...request, listing: 'streams' }))).status, 504);
    },
  );
});

test('a backend that does not answer in time is 504', async (t) => {
  await withBackend(
    () => undefined,
    async ({ upstream, breaker }) => {
      const error = await failureOf(t, collect(upstream));
      t.is(error.status, 504);
      t.is(breaker.state, 'closed');
    },
    { timeout: 30 },
  );
});

test('a client that goes away closes the connection to the backend', async (t) => {
  const asking = withResolvers();
  const closed = withResolvers();
  await withBackend(
    (asked, response) => {
      asked.socket.once('close', () => closed.resolve(undefined));
      response.write('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n');
      asking.resolve(undefined);
    },
    async ({ upstream, controller }) => {
      const reading = failureOf(t, collect(upstream));
      await asking.promise;
      controller.abort();
      t.is((await reading).status, 499);
      await closed.promise;
    },
  );
});

test('a call that is given up closes its connection, and leaves the others', async (t) => {
  let closed: () => void = () => undefined;
  const isClosed = new Promise<void>((resolve) => (closed = resolve));
  const waiting: ServerResponse[] = [];
  const stop = new AbortController();
  await withBackend(
    (_asked, response, body) => {
      if (body.includes('given+up')) {
        response.on('close', closed);
        stop.abort();
      } else waiting.push(response);
    },
    async ({ upstream }) => {
      const kept = upstream.list({ ...request, listing: 'streams' });
      const givenUp = { ...request, query: query(exact('a', 'given up')) };
      const gone = upstream.until(stop.signal).list({ ...givenUp, listing: 'streams' });
      t.is((await failureOf(t, gone)).status, 499);
      await isClosed;
      for (const response of waiting) response.end('{"values":[{"value":"{}","hits":1}]}');
      t.deepEqual(await kept, [{ value: '{}', hits: 1 }]);
    },
  );
});

test('a call that is given up while its answer waits to be read is no short answer', async (t) => {
  const row = `{"_time":"2026-11-01T00:00:00Z","a":"${'x'.repeat(900)}"}\n`;
  await withBackend(
    (_asked, response) => response.end(row.repeat(100)),
    async ({ upstream, controller }) => {
      const reading = async (): Promise<void> => {
        for await (const batch of upstream.rows(request)) {
          t.true(batch.length < 100);
          for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
          controller.abort();
        }
      };
      t.is((await failureOf(t, reading())).status, 499);
    },
  );
});

test('a reader that stops early closes the connection to the backend', async (t) => {
  const closed = withResolvers();
  await withBackend(
    (asked, response) => {
      asked.socket.once('close', () => closed.resolve(undefined));
      response.write('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n');
    },
    async ({ upstream, trace }) => {
      for await (const batch of upstream.rows(request)) {
        t.is(batch.length, 1);
        break;
      }
      await closed.promise;
      t.is(trace.upstreamCalls.length, 1);
    },
  );
});

test('the reason of an abort reaches the caller when it is an error for clients', async (t) => {
  await withBackend(
    () => undefined,
    async ({ upstream, controller }) => {
      const reading = collect(upstream);
      controller.abort(new ApiError({ status: 503, when: '', text: 'stopping' }, 'stopping'));
      t.is((await failureOf(t, reading)).message, 'stopping');
    },
  );
});

test('a connection that is closed before any byte is tried once more', async (t) => {
  let calls = 0;
  await withBackend(
    (asked, response) => {
      calls += 1;
      if (calls === 1) asked.socket.destroy();
      else response.end('{"_time":"2026-11-01T00:00:00Z","a":"b"}\n');
    },
    async ({ upstream, breaker }) => {
      t.deepEqual(await collect(upstream), [{ _time: '2026-11-01T00:00:00Z', a: 'b' }]);
      t.is(calls, 2);
      t.is(breaker.state, 'closed');
    },
  );
});

test('an unreachable backend is 502, and opens the breaker', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await withClient(`http://127.0.0.1:${port}`, async ({ upstream, breaker }) => {
    t.is((await failureOf(t, collect(upstream))).status, 502);
    t.is((await failureOf(t, upstream.stats(request))).status, 502);
    t.is(breaker.state, 'open');
    t.is((await failureOf(t, collect(upstream))).status, 503);
  });
});

test('a row that never ends fails at its bound, and its connection is closed', async (t) => {
  const closed = withResolvers();
  await withBackend(
    (asked, response) => {
      asked.socket.once('close', () => closed.resolve(undefined));
      response.write(`{"_msg":"${'x'.repeat(5000)}`);
    },
    async ({ upstream }) => {
      const error = await failureOf(t, collect(upstream));
      t.is(error.status, 502);
      t.regex(error.message, /^a row from the backend is larger than 1000 bytes; raise -max-row-bytes/);
      await closed.promise;
    },
  );
});

test('an answer that must be collected has a bound', async (t) => {
  await withBackend(
    (_asked, response) =>
      response.end(`{"values":[${'{"value":"x","hits":1},'.repeat(100)}{"value":"y","hits":1}]}`),
    async ({ upstream }) => {
      const error = await failureOf(t, upstream.list({ ...request, listing: 'streams' }));
      t.is(error.status, 502);
      t.regex(error.message, /^response exceeds 1000 bytes/);
    },
  );
});

interface Resolvers {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
}

function withResolvers(): Resolvers {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

test('an answer that nobody reads keeps no other call waiting', async (t) => {
  const handler: Handler = (request, response) => {
    response.write('{"_time":"2026-01-01T00:00:00Z","_stream":"{}","_msg":"first"}\n');
    response.end('{"_time":"2026-01-01T00:00:01Z","_stream":"{}","_msg":"second"}\n');
    request.resume();
  };
  await withBackend(
    handler,
    async ({ upstream }) => {
      const range = { startNs: 0n, endNs: 10n };
      const lines = async (rows: AsyncIterable<readonly unknown[]>): Promise<number> => {
        let count = 0;
        for await (const batch of rows) count += batch.length;
        return count;
      };
      const unread = upstream.rows({ query: query(everything), range });
      const begun = await unread.next();
      const inTime = AbortSignal.timeout(60_000);
      const other = lines(upstream.until(inTime).rows({ query: query(everything), range }));
      t.is(await other, 2);
      const left = await lines(unread);
      t.is((begun.done === true ? 0 : begun.value.length) + left, 2);
    },
    { maxConcurrent: 1 },
  );
});
