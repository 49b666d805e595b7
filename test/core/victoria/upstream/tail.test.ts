import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { everything, query } from '../../../../core/victoria/logsql/build.js';
import { Trace } from '../../../../core/base/trace.js';
import { BoundUpstream } from '../../../../core/victoria/upstream/bound.js';
import { CircuitBreaker } from '../../../../core/base/admission/circuit-breaker.js';
import { BackendClient } from '../../../../core/victoria/upstream/client.js';
import { Deadline } from '../../../../core/victoria/upstream/connections.js';
import type { TailRowsRequest } from '../../../../core/victoria/upstream/types.js';

const asked: TailRowsRequest = {
  query: query(everything),
  offsetNs: 2_000_000_000n,
  startOffsetMs: 10_000,
  refreshMs: 500,
  openTimeoutMs: 30_000,
};

interface Setup {
  readonly upstream: BoundUpstream;
  readonly controller: AbortController;
  readonly trace: Trace;
}

/** Runs a test with a fake backend that requires gzip and allows one call at a time. */
async function withBackend(
  answer: (request: IncomingMessage, response: ServerResponse, form: URLSearchParams) => void,
  run: (setup: Setup) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    response.setHeader('content-type', 'application/x-ndjson');
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => answer(request, response, new URLSearchParams(Buffer.concat(parts).toString())));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const breaker = { breakerFailThreshold: 2, breakerOpenDuration: 60_000, breakerWindowDuration: 60_000 };
  const client = new BackendClient(
    {
      url: `http://127.0.0.1:${port}`,
      timeout: 30_000,
      compression: 'gzip',
      tlsSkipVerify: false,
      maxConcurrent: 1,
      maxBufferedResponseBytes: 1000,
      maxRowBytes: 1000,
    },
    new CircuitBreaker(breaker, { monotonicMs: () => 0 }),
  );
  const controller = new AbortController();
  const trace = new Trace();
  const parameters = [['extra', 'x']] as const;
  const binding = {
    signal: controller.signal,
    trace,
    headers: {},
    parameters,
    dataOwner: '',
    scope: everything,
  };
  try {
    await run({ upstream: new BoundUpstream(client, binding), controller, trace });
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
}

test('a tail is asked for plain, with its offsets, and begins before the first row', async (t) => {
  await withBackend(
    (request, response, form) => {
      t.is(request.url, '/select/logsql/tail');
      t.is(request.headers['accept-encoding'], 'identity');
      t.deepEqual(Object.fromEntries(form), {
        query: '*',
        start_offset: '10000ms',
        offset: '2000ms',
        refresh_interval: '500ms',
        allow_partial_response: '0',
        extra: 'x',
      });
      response.writeHead(200).flushHeaders();
    },
    async ({ upstream, controller, trace }) => {
      const rows = await upstream.tail(asked);
      t.is(trace.upstreamCalls[0]?.type, 'tail');
      const reading = rows[Symbol.asyncIterator]().next();
      controller.abort();
      await t.throwsAsync(reading, { message: 'context canceled' });
    },
  );
});

test('tails take no place from queries, however few there are', async (t) => {
  await withBackend(
    (request, response) => {
      response.writeHead(200).write('{"_time":"2026-11-01T00:00:00Z","_msg":"a"}\n');
      if (request.url !== '/select/logsql/tail') response.end();
    },
    async ({ upstream }) => {
      const tails = [await upstream.tail(asked), await upstream.tail(asked)];
      const range = { startNs: 1793491200000000000n, endNs: 1793491200000000001n };
      for await (const rows of upstream.rows({ query: query(everything), range }))
        t.deepEqual(rows, [{ _time: '2026-11-01T00:00:00Z', _msg: 'a' }]);
      for (const tail of tails) {
        for await (const rows of tail) {
          t.deepEqual(rows, [{ _time: '2026-11-01T00:00:00Z', _msg: 'a' }]);
          break;
        }
      }
    },
  );
});

test('a tail that does not begin in time fails', async (t) => {
  await withBackend(
    () => undefined,
    async ({ upstream }) => {
      const error = await t.throwsAsync(upstream.tail({ ...asked, openTimeoutMs: 1 }));
      t.is(error instanceof ApiError ? error.status : 0, 504);
    },
  );
});

test.serial('a deadline that is lifted does not pass, and the call still ends with its parent', (t) => {
  const { timers } = mock;
  timers.enable({ apis: ['setTimeout'] });
  try {
    const parent = new AbortController();
    const [kept, lifted] = [new Deadline(parent.signal, 10), new Deadline(parent.signal, 10)];
    lifted.lift();
    timers.tick(11);
    t.true(kept.hasPassed);
    t.false(lifted.hasPassed);
    parent.abort();
    t.true(lifted.signal.aborted);
  } finally {
    timers.reset();
  }
});

test('a refused tail says why, and a broken one ends with an error', async (t) => {
  let calls = 0;
  await withBackend(
    (_request, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(400).end('cannot be used in live tailing');
      else
        response
          .writeHead(200)
          .write('{"_time":"2026-11-01T00:00:00Z","_msg":"a"}\n', () => response.destroy());
    },
    async ({ upstream }) => {
      await t.throwsAsync(upstream.tail(asked), { message: 'cannot be used in live tailing' });
      const rows = await upstream.tail(asked);
      await t.throwsAsync(async () => {
        for await (const batch of rows) t.is(batch.length, 1);
      });
    },
  );
});
