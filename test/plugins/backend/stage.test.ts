import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { everything, query } from '../../../core/victoria/logsql/build.js';
import type { BackendOptions } from '../../../core/base/options.gen.js';
import { ApiError } from '../../../core/base/errors/api-error.js';
import type { Answer } from '../../../core/plugin/index.js';
import {
  makeCaller,
  makeExchange,
  makeHost,
  makeTenant,
  optionsOf,
  runStage,
} from '../../../core/testing/index.js';
import backend from '../../../plugins/backend/index.js';
import { backendMetrics } from '../../../plugins/backend/metrics.js';
import { BackendStage } from '../../../plugins/backend/stage.js';

function optionsFor(url: string, more: Readonly<Record<string, unknown>> = {}): BackendOptions {
  // optionsOf applies the schema, which the type is generated from.
  return optionsOf('backend', { url, ...more }) as unknown as BackendOptions;
}

async function withBackend(
  answers: ReadonlyMap<string, (response: ServerResponse) => void>,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    const answer = answers.get(request.url ?? '');
    if (answer !== undefined) {
      answer(response);
      return;
    }
    response.statusCode = 400;
    response.end('unsupported path requested');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  try {
    await run(`http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function healthy(version: string): Map<string, (response: ServerResponse) => void> {
  return new Map([
    ['/health', (response: ServerResponse) => void response.end('OK')],
    [
      '/select/buildinfo',
      (response: ServerResponse) => void response.end(`{"status":"success","data":{"version":"${version}"}}`),
    ],
  ]);
}

function makeBackendHost() {
  return makeHost({ metrics: backendMetrics });
}

test.serial('the stage gives the stages behind it a backend bound to the exchange', async (t) => {
  const answers = healthy('v1.52.0');
  answers.set(
    '/select/logsql/streams',
    (response) => void response.end('{"values":[{"value":"{}","hits":1}]}'),
  );
  await withBackend(answers, async (url) => {
    const exchange = makeExchange<'tenant'>({ slots: { tenant: makeTenant('t1', { accountId: 7 }) } });
    const empty: Answer = { kind: 'names', values: [], warnings: [] };
    const run = await runStage(backend, optionsFor(url), exchange, async (derived) => {
      const range = { startNs: 0n, endNs: 1n };
      const values = await derived.slots.upstream.list({
        listing: 'streams',
        query: query(everything),
        range,
      });
      t.deepEqual(values, [{ value: '{}', hits: 1 }]);
      return empty;
    });
    t.is(run.answer, empty);
    t.is(exchange.trace.upstreamCalls.length, 1);
  });
});

test.serial(
  'upstreams of callers whose forwarded credentials differ show rows of different owners',
  async (t) => {
    const options = optionsFor('http://127.0.0.1:9', { forwardAuthorization: true });
    const ownerOf = async (id: string, headers: Readonly<Record<string, string>>): Promise<string> => {
      const caller = makeCaller({ headers: new Map(Object.entries(headers)) });
      const exchange = makeExchange<'tenant'>({
        caller,
        slots: { tenant: makeTenant(id, { accountId: 7 }) },
      });
      let owner = '';
      await runStage(backend, options, exchange, (derived) => {
        owner = derived.slots.upstream.owner;
        return Promise.resolve<Answer>({ kind: 'names', values: [], warnings: [] });
      });
      return owner;
    };
    const first = await ownerOf('t1', { authorization: 'Bearer a', 'user-agent': 'one' });
    t.is(await ownerOf('t1', { authorization: 'Bearer a', 'user-agent': 'another' }), first);
    t.not(await ownerOf('t1', { authorization: 'Bearer b' }), first);
    t.not(await ownerOf('t1', {}), first);
    t.not(await ownerOf('t2', { authorization: 'Bearer a' }), first);
    t.false(first.includes('Bearer a'), 'credentials are not kept as they are');
  },
);

test.serial('a backend of a supported version starts silently', async (t) => {
  await withBackend(healthy('v1.45.0'), async (url) => {
    const host = makeBackendHost();
    const stage = new BackendStage(optionsFor(url, { versionStrict: true }), host);
    await stage.start(new AbortController().signal);
    t.is(await stage.ready(), undefined);
    t.is(await host.metric('circuit_breaker_state'), 0);
    await stage.stop();
  });
});

test.serial('an old backend is a warning, under versionStrict the end of the start', async (t) => {
  await withBackend(healthy('v1.44.9'), async (url) => {
    const host = makeBackendHost();
    const tolerant = new BackendStage(optionsFor(url), host);
    await tolerant.start(new AbortController().signal);
    t.regex(JSON.stringify(host.records), /the backend is v1\.44\.9; -backend-min-version is v1\.45\.0/);
    await tolerant.stop();
    const strict = new BackendStage(optionsFor(url, { versionStrict: true }), makeBackendHost());
    await t.throwsAsync(strict.start(new AbortController().signal), { message: /v1\.44\.9/ });
    await strict.stop();
    const allowed = new BackendStage(
      optionsFor(url, { versionStrict: true, allowUnsupportedVersion: true }),
      makeBackendHost(),
    );
    await t.notThrowsAsync(allowed.start(new AbortController().signal));
    await allowed.stop();
  });
});

test.serial('a backend that tells no version is taken as the newest', async (t) => {
  await withBackend(healthy(''), async (url) => {
    const stage = new BackendStage(optionsFor(url, { versionStrict: true }), makeBackendHost());
    await t.notThrowsAsync(stage.start(new AbortController().signal));
    await stage.stop();
  });
});

test.serial('an unhealthy backend is not ready, and failed looks do not open the breaker', async (t) => {
  await withBackend(new Map(), async (url) => {
    const host = makeBackendHost();
    const stage = new BackendStage(optionsFor(url, { breakerFailThreshold: 1 }), host);
    for (let index = 0; index < 5; index += 1) t.is(await stage.ready(), 'backend not ready');
    t.is(await host.metric('circuit_breaker_state'), 0);
    const strict = new BackendStage(optionsFor(url, { versionStrict: true }), makeBackendHost());
    await t.throwsAsync(strict.start(new AbortController().signal), { message: /\(\/health\) failed/ });
    await Promise.all([stage.stop(), strict.stop()]);
  });
});

test.serial('looks at a backend that is down have no say in the breaker', async (t) => {
  let url = '';
  await withBackend(new Map(), (address) => {
    url = address;
    return Promise.resolve();
  });
  const host = makeBackendHost();
  const stage = new BackendStage(optionsFor(url, { breakerFailThreshold: 1 }), host);
  await stage.start(new AbortController().signal);
  for (let index = 0; index < 5; index += 1) t.is(await stage.ready(), 'backend not ready');
  t.is(await host.metric('circuit_breaker_state'), 0);
  await stage.stop();
});

test.serial(
  'a proxy whose places are all taken still sees that its backend is well, and reads its gauges',
  async (t) => {
    const answers = healthy('v1.52.0');
    const metricsRead = new Promise<void>((resolve) => {
      answers.set('/metrics', (response) => {
        response.end('vl_concurrent_select_current 1\n');
        resolve();
      });
    });
    const asked = new Promise<void>((resolve) => answers.set('/select/logsql/streams', () => resolve()));
    await withBackend(answers, async (url) => {
      const stage = new BackendStage(optionsFor(url, { maxConcurrent: 1 }), makeBackendHost());
      const controller = new AbortController();
      const exchange = makeExchange<'tenant'>({
        slots: { tenant: makeTenant('t1', { accountId: 7 }) },
        signal: controller.signal,
      });
      const day = { query: query(everything), range: { startNs: 0n, endNs: 86_400_000_000_000n } };
      const empty: Answer = { kind: 'names', values: [], warnings: [] };
      await stage.handle(exchange, async ({ slots: { upstream } }) => {
        const taken = upstream.list({ ...day, listing: 'streams', range: { startNs: 0n, endNs: 1n } });
        await asked;
        t.is(await stage.ready(), undefined);
        // The gauges admit a long listing, which then waits for the slot.
        const long = upstream.list({ ...day, listing: 'streams' });
        await metricsRead;
        controller.abort();
        await t.throwsAsync(taken, { message: 'context canceled' });
        await t.throwsAsync(long, { message: 'context canceled' });
        return empty;
      });
      await stage.stop();
    });
  },
);

test.serial('the gauge of the breaker says when its open time is over, though nobody calls', async (t) => {
  const host = makeBackendHost();
  let url = '';
  await withBackend(new Map(), (address) => {
    url = address;
    return Promise.resolve();
  });
  const options = optionsFor(url, { breakerFailThreshold: 1, breakerOpenDuration: '1ms' });
  const stage = new BackendStage(options, host);
  const exchange = makeExchange<'tenant'>({ slots: { tenant: makeTenant('t1', { accountId: 7 }) } });
  const asked = { query: query(everything), range: { startNs: 0n, endNs: 1n } };
  await stage.handle(exchange, async ({ slots: { upstream } }) => {
    await t.throwsAsync(upstream.stats(asked), { message: /backend unreachable/ });
    return { kind: 'names', values: [], warnings: [] };
  });
  while ((await host.metric('circuit_breaker_state')) === 1) await new Promise(setImmediate);
  t.is(await host.metric('circuit_breaker_state'), 2);
  await stage.stop();
});

test.serial(
  'a heavy query without a place in time is refused with the names of the limits, and counted',
  async (t) => {
    const answers = healthy('v1.52.0');
    let release = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      answers.set('/select/logsql/stats_query', (response) => {
        release = () => void response.end('{"status":"success","data":{"resultType":"vector","result":[]}}');
        resolve();
      });
    });
    await withBackend(answers, async (url) => {
      const host = makeBackendHost();
      const options = optionsFor(url, { maxConcurrentHeavyQueries: 1, heavyQueryQueueWait: '1ms' });
      const stage = new BackendStage(options, host);
      const exchange = makeExchange<'tenant'>({ slots: { tenant: makeTenant('t1', { accountId: 7 }) } });
      const day = { query: query(everything), range: { startNs: 0n, endNs: 86_400_000_000_000n } };
      const empty: Answer = { kind: 'names', values: [], warnings: [] };
      await stage.handle(exchange, async ({ slots: { upstream } }) => {
        const first = upstream.stats(day);
        await asked;
        const error = await t.throwsAsync(upstream.stats(day), { instanceOf: ApiError });
        t.is(error.status, 429);
        t.regex(
          error.message,
          /-backend-max-concurrent-heavy-queries=1 .* -backend-heavy-query-queue-wait=1ms;/,
        );
        t.is(await host.metric('backend_heavy_queries', { state: 'running' }), 1);
        t.is(await host.metric('backend_heavy_queries_refused_total'), 1);
        release();
        t.deepEqual(await first, []);
        t.is(await host.metric('backend_heavy_queries', { state: 'running' }), 0);
        return empty;
      });
      await stage.stop();
    });
  },
);

test.serial('a request with many calls at once makes no warning of listeners', async (t) => {
  const answers = healthy('v1.52.0');
  answers.set('/select/logsql/stats_query', (response) => {
    response.end('{"status":"success","data":{"resultType":"vector","result":[]}}');
  });
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  await withBackend(answers, async (url) => {
    const stage = new BackendStage(optionsFor(url), makeBackendHost());
    const exchange = makeExchange<'tenant'>({ slots: { tenant: makeTenant('t1', { accountId: 7 }) } });
    const asked = { query: query(everything), range: { startNs: 0n, endNs: 1n } };
    const empty: Answer = { kind: 'names', values: [], warnings: [] };
    await stage.handle(exchange, async ({ slots: { upstream } }) => {
      await Promise.all(Array.from({ length: 40 }, () => upstream.stats(asked)));
      return empty;
    });
    await stage.stop();
  });
  // Warnings are emitted in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  t.deepEqual(warnings, []);
});
