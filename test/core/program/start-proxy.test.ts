import test from 'ava';
import { request } from 'undici';
import { startProxy } from '../../../core/program/start-proxy.js';
import {
  defineEndpoint,
  defineService,
  type EndpointPlugin,
  type Lifecycle,
  type OwnRoute,
} from '../../../core/plugin/index.js';
import { CapturedLog, makePipeline, withPipeline } from '../../../core/testing/index.js';
import { answering, lastStage, serving, text } from '../http/fixtures.js';

const metrics = { fixture_things_total: { type: 'counter', help: 'Things.', labels: ['kind'] } } as const;

/** Plugins of all three kinds that record calls of their lifecycle methods. */
function noting(notes: string[]): Parameters<typeof makePipeline>[0] {
  const living = (name: string): Lifecycle => ({
    start: () => Promise.resolve(void notes.push(`start ${name}`)),
    stop: () => Promise.resolve(void notes.push(`stop ${name}`)),
    reload: () => Promise.resolve(void notes.push(`reload ${name}`)),
  });
  const stage = (name: string): ReturnType<typeof answering> => ({
    ...answering({ kind: 'names', values: [], warnings: [] }),
    name,
    create: () => ({ ...living(name), handle: (exchange, rest) => rest(exchange) }),
  });
  const plain = { summary: 'Notes.' };
  return {
    services: [defineService({ ...plain, name: 'service', create: () => living('service') })],
    stages: [stage('first'), stage('last')],
    endpoints: [
      defineEndpoint({
        ...plain,
        name: 'endpoint',
        create: () => ({ ...living('endpoint'), routes: new Map() }),
      }),
    ],
  };
}

test.serial(
  'services start first, then stages from the last to the first, then endpoints; all stop the other way round',
  async (t) => {
    const notes: string[] = [];
    const proxy = await startProxy(makePipeline(noting(notes)), { logTo: new CapturedLog() });
    t.deepEqual(notes.splice(0), ['start service', 'start last', 'start first', 'start endpoint']);
    await proxy.reload();
    t.deepEqual(notes.splice(0), ['reload service', 'reload last', 'reload first', 'reload endpoint']);
    await Promise.all([proxy.close(), proxy.close()]);
    t.deepEqual(notes, ['stop endpoint', 'stop first', 'stop last', 'stop service']);
  },
);

test.serial('a start that hangs names the plugin and leaves no port open', async (t) => {
  const hanging = defineService({
    name: 'slow-service',
    summary: 'Never starts.',
    create: () => ({ start: () => new Promise(() => undefined) }),
  });
  const pipeline = makePipeline({ services: [hanging], server: { startTimeout: '5ms' } });
  const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.is(error.message, 'made-up.yaml:1:1: service "slow-service" failed to start: timeout after 5 ms');
});

test.serial('a plugin that fails in its making is named with its place', async (t) => {
  const broken = defineService({
    name: 'broken',
    summary: 'Cannot be made.',
    create: () => {
      throw new Error('no such thing');
    },
  });
  const error = await t.throwsAsync(
    startProxy(makePipeline({ services: [broken] }), { logTo: new CapturedLog() }),
  );
  t.is(error.message, 'made-up.yaml:1:1: service "broken" failed to create: no such thing');
});

test.serial('two plugins on one route are refused', async (t) => {
  const one = serving({ ready: () => Promise.resolve(text('1')) });
  const pipeline = makePipeline({ endpoints: [one, { plugin: one, id: 'other' }] });
  const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.regex(
    error.message,
    /endpoint "other" failed to create: route "ready" is already served by a plugin above/,
  );
});

/** An endpoint of a site plugin with a route of its own. */
function ofSite(route: OwnRoute): EndpointPlugin {
  return defineEndpoint({
    name: 'site',
    summary: 'A route of a site.',
    ownRoutes: [route],
    create: () => ({
      routes: new Map([[route.id, (call) => Promise.resolve(text([...call.pathParams.values()].join()))]]),
    }),
  });
}

test.serial('a plugin serves a path of its own, with parameters and the methods it names', async (t) => {
  const site = ofSite({ id: 'site_team', path: '/site/teams/{name}', methods: ['POST'] });
  await withPipeline(makePipeline({ endpoints: [site] }), async ({ url }) => {
    const posted = await request(`${url}/site/teams/blue`, { method: 'POST' });
    t.is(await posted.body.text(), 'blue');
    const got = await request(`${url}/site/teams/blue`);
    t.is(got.statusCode, 405);
    t.is((await request(`${url}/site/teams`)).statusCode, 404);
  });
});

test.serial('a path of its own can be on the admin listener', async (t) => {
  const site = { ...ofSite({ id: 'site_admin', path: '/site/admin', listener: 'admin' }), servesAdmin: true };
  await withPipeline(makePipeline({ endpoints: [site] }), async ({ url, proxy }) => {
    t.is((await request(`${url}/site/admin`)).statusCode, 404);
    t.is((await request(`${proxy.urls.admin ?? ''}/site/admin`)).statusCode, 200);
  });
});

for (const [route, reason] of [
  [{ id: 'labels', path: '/site/labels' }, /route "labels" already exists/],
  [{ id: 'mine', path: '/loki/api/v1/label/{other}/values' }, /belongs to the route "label_values"/],
  [{ id: 'mine', path: 'site' }, /the path "site" of route "mine" is not a path such as/],
] satisfies readonly (readonly [OwnRoute, RegExp])[]) {
  test.serial(`an own route ${route.id} at ${route.path} is refused with its place`, async (t) => {
    const pipeline = makePipeline({ endpoints: [ofSite(route)] });
    const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
    t.regex(error.message, /^made-up\.yaml:1:1: endpoint "site" failed to create: /);
    t.regex(error.message, reason);
  });
}

test.serial('a route that does not exist is refused with its place', async (t) => {
  const pipeline = makePipeline({ endpoints: [serving({ '/hello': () => Promise.resolve(text('')) })] });
  const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.regex(
    error.message,
    /endpoint "fixture" failed to create: unknown route "\/hello": declare it in ownRoutes$/,
  );
});

test.serial('plugins are stopped when a listener cannot open', async (t) => {
  const notes: string[] = [];
  const pipeline = makePipeline({ ...noting(notes), server: { listen: '192.0.2.1:1' } });
  await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
  t.deepEqual(notes.slice(4), ['stop endpoint', 'stop first', 'stop last', 'stop service']);
});

test.serial('a declared metric shows up in the exposition and an endpoint can ask the chain', async (t) => {
  const endpoint = defineEndpoint<unknown, typeof metrics>({
    name: 'fixture',
    summary: 'Counts.',
    metrics,
    create: (_options, host) => ({
      routes: new Map([
        [
          'ready',
          () => {
            host.meters.fixture_things_total.add(2, { kind: 'a' });
            return Promise.resolve(text('ok'));
          },
        ],
        ['metrics', async () => text((await host.exposeMetrics()).text)],
      ]),
    }),
  });
  const pipeline = makePipeline({ endpoints: [endpoint], telemetry: { registerInstrumentation: true } });
  await withPipeline(pipeline, async ({ url }) => {
    await (await request(`${url}/ready`)).body.dump();
    const exposition = await (await request(`${url}/metrics`)).body.text();
    t.true(exposition.includes('ref_proxy_fixture_things_total{kind="a"} 2'));
    t.true(exposition.includes('endpoint="ready",route="/ready",status="200"} 1'));
    t.regex(exposition, /^ref_proxy_uptime_seconds /m);
    t.regex(exposition, /^process_resident_memory_bytes [1-9]/m);
  });
});

test.serial('metrics have a listener of their own when one is set, and nothing else is there', async (t) => {
  const endpoint = serving({
    metrics: () => Promise.resolve(text('m')),
    ready: () => Promise.resolve(text('r')),
  });
  const pipeline = makePipeline({
    endpoints: [endpoint],
    server: { metricsListen: '127.0.0.1:0' },
    telemetry: { registerInstrumentation: true },
  });
  await withPipeline(pipeline, async ({ url, proxy }) => {
    const own = proxy.urls.metrics ?? '';
    const statuses = [];
    for (const address of [`${own}/metrics`, `${own}/ready`, `${url}/metrics`, `${url}/ready`]) {
      const { statusCode, body } = await request(address);
      statuses.push(statusCode);
      await body.dump();
    }
    t.deepEqual(statuses, [200, 404, 404, 200]);
  });
});

test.serial('a stage sees the request of its route and what the caller said', async (t) => {
  const seen: string[] = [];
  const stage = lastStage((exchange) => {
    seen.push(exchange.request.op, exchange.caller.orgId ?? '', String(exchange.isFinal));
    return Promise.resolve({ kind: 'names', values: ['a'], warnings: [] });
  });
  const endpoint = serving({
    labels: (call) => call.ask({ op: 'labels', range: { startNs: 0n, endNs: 1n }, browse: {} }),
  });
  await withPipeline(makePipeline({ stages: [stage], endpoints: [endpoint] }), async ({ url }) => {
    const { statusCode, body } = await request(`${url}/loki/api/v1/labels`, {
      headers: { 'x-scope-orgid': 't1' },
    });
    t.is(statusCode, 200);
    t.deepEqual(await body.json(), { status: 'success', data: ['a'] });
  });
  t.deepEqual(seen, ['labels', 't1', 'true']);
});

test.serial('more scrapes at once than allowed are told so', async (t) => {
  const results: string[] = [];
  const endpoint = defineEndpoint({
    name: 'fixture',
    summary: 'Scrapes twice at once.',
    create: (_options, host) => ({
      routes: new Map([
        [
          'ready',
          async () => {
            const scrapes = await Promise.allSettled([host.exposeMetrics(), host.exposeMetrics()]);
            for (const scrape of scrapes) {
              results.push(scrape.status === 'rejected' ? String(scrape.reason) : scrape.status);
            }
            return text('ok');
          },
        ],
      ]),
    }),
  });
  await withPipeline(makePipeline({ endpoints: [endpoint] }), async ({ url }) => {
    await (await request(`${url}/ready`)).body.dump();
  });
  t.deepEqual(results, ['fulfilled', 'ApiError: metrics scrape already in progress']);
});

test.serial('a plugin is told of every request; what it throws is logged and touches none', async (t) => {
  const seen: (readonly [string, number])[] = [];
  const endpoint = defineEndpoint({
    name: 'watcher',
    summary: 'Watches.',
    create: (_options, host) => {
      host.observeRequests({
        started: () => {
          throw new Error('not ready to watch');
        },
        finished: (record, status) => seen.push([record.requestType, status]),
      });
      return { routes: new Map([['ready', () => Promise.resolve(text('ok'))]]) };
    },
  });
  await withPipeline(makePipeline({ endpoints: [endpoint] }), async ({ url, log }) => {
    t.is(await (await request(`${url}/ready`)).body.text(), 'ok');
    t.is((await request(`${url}/nosuch`)).statusCode, 404);
    const record = await log.find((each) => each.get('body') === 'a request observer failed');
    t.is(record.get('component'), 'watcher');
  });
  t.deepEqual(seen, [
    ['ready', 200],
    ['unknown', 404],
  ]);
});

test.serial(
  'an admin route of a plugin that does not declare the listener is refused, as the checker cannot see it',
  async (t) => {
    const silent = { ...serving({ debug_queries: () => Promise.resolve(text('')) }), servesAdmin: false };
    const pipeline = makePipeline({ endpoints: [silent] });
    const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
    t.regex(error.message, /"fixture" failed to create: route "debug_queries" .*: declare servesAdmin$/);
  },
);
