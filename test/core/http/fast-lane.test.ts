import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { Client, Pool, request } from 'undici';
import {
  makeLogAnswer,
  makePipeline,
  optionsOf,
  withPipeline,
  type LogRecord,
} from '../../../core/testing/index.js';
import {
  defineStage,
  type Answer,
  type EndpointPlugin,
  type Exchange,
  type StagePlugin,
} from '../../../core/plugin/index.js';
import admin from '../../../plugins/admin/index.js';
import guard from '../../../plugins/guard/index.js';
import referenceApi from '../../../plugins/reference-api/index.js';
import status from '../../../plugins/status/index.js';
import tenancy from '../../../plugins/tenancy/index.js';
import tier0 from '../../../plugins/tier0/index.js';
import { answering } from './fixtures.js';

interface Settings {
  readonly server?: Readonly<Record<string, unknown>>;
  readonly tier0?: Readonly<Record<string, unknown>>;
  readonly guard?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** An extra stage before tier0. */
  readonly before?: StagePlugin;
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

interface Under {
  readonly url: string;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Got>;
  readonly flush: () => Promise<unknown>;
  /** The value of one metric, named without the prefix and with its labels. */
  readonly metric: (name: string) => Promise<number>;
  readonly records: () => readonly LogRecord[];
}

const answer = makeLogAnswer(
  { app: 'a' },
  Array.from({ length: 100 }, (_, index) => `line ${index} of many alike`),
);
const fixed = { query: '{app="a"}', start: '1000', end: '2000' };
const pathOf = (params: Readonly<Record<string, string>> = fixed): string =>
  `/loki/api/v1/query_range?${new URLSearchParams(params).toString()}`;

async function withLane<Result>(settings: Settings, use: (under: Under) => Promise<Result>): Promise<Result> {
  const pipeline = makePipeline({
    stages: [
      // The stages that a plugin needs before it are checked when the pipeline starts.
      { plugin: tenancy as unknown as StagePlugin, options: optionsOf('tenancy', {}) },
      { plugin: guard as unknown as StagePlugin, options: optionsOf('guard', settings.guard ?? {}) },
      ...(settings.before === undefined ? [] : [{ plugin: settings.before, options: {} }]),
      { plugin: tier0 as unknown as StagePlugin, options: optionsOf('tier0', settings.tier0 ?? {}) },
      answering(answer),
    ],
    endpoints: [
      { plugin: referenceApi as unknown as EndpointPlugin, options: optionsOf('reference-api', {}) },
      { plugin: admin as unknown as EndpointPlugin, options: optionsOf('admin', {}) },
      { plugin: status as unknown as EndpointPlugin, options: optionsOf('status', {}) },
    ],
    server: settings.server ?? {},
    limits: settings.limits ?? {},
    telemetry: { registerInstrumentation: true },
  });
  return withPipeline(pipeline, async ({ url, proxy, log }) => {
    const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> => {
      const { statusCode, headers: sent, body } = await request(url + path, { headers });
      return { status: statusCode, headers: sent, body: Buffer.from(await body.arrayBuffer()) };
    };
    const metric = async (name: string): Promise<number> => {
      const text = (await get('/metrics')).body.toString('utf8');
      const line = text.split('\n').find((one) => one.startsWith(`ref_proxy_${name} `));
      return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
    };
    const flush = (): Promise<unknown> =>
      request(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    return use({ url, get, metric, flush, records: () => log.records });
  });
}

const lane = 'fast_lane_requests_total';

async function isLocal(address: string): Promise<boolean> {
  const server = createServer().listen(0, address);
  const outcome = await Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
  server.close();
  return outcome;
}
/** Drops the date, because it may be that of another second. */
const withoutDate = ({ headers, ...rest }: Got): unknown => ({ ...rest, headers: { ...headers, date: '' } });

test('from the third time on, the same bytes are answered at once with the same bytes and headers', async (t) => {
  for (const headers of [{}, { 'accept-encoding': 'gzip' }, { 'x-scope-orgid': 'a' }]) {
    const whole = await withLane({ server: { httpFastLane: false } }, async ({ get, metric }) => {
      const answers = [await get(pathOf(), headers), await get(pathOf(), headers)];
      t.is(await metric(lane), 0);
      return answers;
    });
    await withLane({}, async ({ get, metric }) => {
      const all: Got[] = [];
      for (let time = 0; time < 5; time += 1) all.push(await get(pathOf(), headers));
      // The gzip form is cached only after the second response has been sent.
      t.true((await metric(lane)) >= 2);
      for (const one of all) t.deepEqual(withoutDate(one), withoutDate(whole[1] ?? one));
      if ('accept-encoding' in headers)
        t.true(gunzipSync(all[4]?.body ?? Buffer.alloc(0)).includes('line 99'));
    });
  }
});

test('what the whole way counts and logs, the lane counts and logs', async (t) => {
  const seen = async (server: Readonly<Record<string, unknown>>) =>
    withLane({ server }, async ({ get, metric, records }) => {
      for (let time = 0; time < 6; time += 1) await get(pathOf(), { 'x-scope-orgid': 'a' });
      const names = [
        'compat_cache_hits_total',
        'compat_cache_misses_total',
        'compat_cache_age_seconds_count',
        'cache_hits_total',
        'requests_total{system="ref",direction="downstream",endpoint="query_range",route="/loki/api/v1/query_range",status="200"}',
        'http_connection_transitions_total{state="active"}',
        'response_tuple_mode_total{mode="default_2tuple"}',
      ];
      const counts: Record<string, number> = {};
      // One after another: only one scrape may run at a time.
      for (const name of names) counts[name] = await metric(name);
      const shown = records()
        .filter(
          (record) => record.get('body') === 'request' && record.get('ref.request.type') === 'query_range',
        )
        .map((record) => [...record].filter(([name]) => !/dur|time|overhead|pid/i.test(name)));
      return { counts, shown };
    });
  const [whole, fast] = [await seen({ httpFastLane: false }), await seen({})];
  const state = 'http_connection_transitions_total{state="active"}';
  t.true((whole.counts[state] ?? 0) >= 6);
  t.true((fast.counts[state] ?? 0) >= 6);
  t.deepEqual({ ...fast.counts, [state]: 0 }, { ...whole.counts, [state]: 0 });
  t.is(fast.shown.length, 6);
  t.deepEqual(fast.shown, whole.shown);
});

test('a request that counts on the time is read anew each time', async (t) => {
  await withLane({}, async ({ get, metric }) => {
    for (const params of [{ query: '{app="a"}' }, { query: '{app="a"}', end: '9000000000', since: '1h' }])
      for (let time = 0; time < 5; time += 1) t.is((await get(pathOf(params))).status, 200);
    t.is(await metric(lane), 0);
  });
});

test('other bytes are another request', async (t) => {
  await withLane({}, async ({ get, metric }) => {
    for (let time = 0; time < 4; time += 1) await get(pathOf(), { 'x-scope-orgid': 'a' });
    const before = await metric(lane);
    t.true(before > 0);
    await get(pathOf(), { 'x-scope-orgid': 'b' });
    await get(`${pathOf()}&limit=3`, { 'x-scope-orgid': 'a' });
    await get(pathOf(), { 'x-scope-orgid': 'a', 'x-loki-response-encoding-flags': 'categorize-labels' });
    t.is(await metric(lane), before);
    t.is((await get(pathOf(), { 'x-scope-orgid': 'a|b' })).status, 200);
  });
});

test('each client has its own repeats, under its own address', async (t) => {
  // Not every system has this address; without it, the same client sends the requests again.
  const other = (await isLocal('127.0.0.2')) ? '127.0.0.2' : '127.0.0.1';
  await withLane({}, async ({ url, get, metric, records }) => {
    for (let time = 0; time < 4; time += 1) await get(pathOf());
    const before = await metric(lane);
    const neighbour = new Client(url, { localAddress: other });
    t.teardown(() => neighbour.close());
    const { statusCode, body } = await neighbour.request({ path: pathOf(), method: 'GET' });
    await body.dump();
    t.is(statusCode, 200);
    const asked = records().filter((record) => record.get('ref.request.type') === 'query_range');
    t.is(asked.at(-1)?.get('client.address'), other);
    t.is(await metric(lane), before + (other === '127.0.0.1' ? 1 : 0));
  });
});

test('a flush sends the next request the whole way', async (t) => {
  await withLane({}, async ({ get, metric, flush }) => {
    for (let time = 0; time < 4; time += 1) await get(pathOf());
    const [before, misses] = [await metric(lane), await metric('compat_cache_misses_total')];
    await flush();
    await get(pathOf());
    t.is(await metric(lane), before);
    t.is(await metric('compat_cache_misses_total'), misses + 1);
  });
});

test('the rate limit holds for repeated requests, each of which takes one token', async (t) => {
  await withLane({ guard: { rateLimitPerSecond: 0.001, rateLimitBurst: 6 } }, async ({ get, metric }) => {
    const statuses: number[] = [];
    for (let time = 0; time < 8; time += 1) statuses.push((await get(pathOf())).status);
    t.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);
    t.true((await metric(lane)) > 0);
  });
});

test('limits that depend on the time are held to each time', async (t) => {
  await withLane(
    { limits: { tenantDefaultLimits: { max_query_lookback: '720h' } } },
    async ({ get, metric }) => {
      for (let time = 0; time < 5; time += 1) await get(pathOf());
      t.is(await metric(lane), 0);
    },
  );
});

test('a stage before the cache that does not say how to repeat itself sees every request', async (t) => {
  let calls = 0;
  const counting = (isRepeating: boolean): StagePlugin =>
    defineStage({
      name: 'site',
      summary: 'Counts.',
      needs: [],
      gives: [],
      rest: 'once',
      create: () => ({
        handle: async (exchange: Exchange, rest: (exchange: Exchange) => Promise<Answer>) => {
          calls += 1;
          return rest(exchange);
        },
        ...(isRepeating ? { admitAgain: () => () => calls < 3 } : {}),
      }),
    }) as unknown as StagePlugin;
  await withLane({ before: counting(false) }, async ({ get, metric }) => {
    for (let time = 0; time < 5; time += 1) await get(pathOf());
    t.is(calls, 5);
    t.is(await metric(lane), 0);
  });
  calls = 0;
  await withLane({ before: counting(true) }, async ({ get, metric }) => {
    for (let time = 0; time < 5; time += 1) await get(pathOf());
    t.is(calls, 2);
    t.is(await metric(lane), 3);
    calls = 3;
    await get(pathOf());
    t.is(calls, 4);
  });
});

test('a request with a body takes the whole way', async (t) => {
  await withLane({}, async ({ get, metric }) => {
    for (let time = 0; time < 4; time += 1) await get(pathOf());
    const before = await metric(lane);
    await get(pathOf(), { 'transfer-encoding': 'chunked' }).catch(() => undefined);
    t.is(await metric(lane), before);
  });
});

test('a connection ends with the same request, and its end counts the same, however that is answered', async (t) => {
  const seen = async (httpFastLane: boolean) =>
    withLane({ server: { httpFastLane, httpConnMaxRequests: 4 } }, async ({ url, get, metric }) => {
      for (let time = 0; time < 3; time += 1) await get(pathOf());
      const pool = new Pool(url, { connections: 1, pipelining: 1 });
      const ends: boolean[] = [];
      for (let time = 0; time < 10; time += 1) {
        const { headers, body } = await pool.request({ path: pathOf(), method: 'GET' });
        t.true((await body.text()).includes('line 99'));
        ends.push(headers['connection'] === 'close');
      }
      await pool.close();
      return { ends, fast: await metric(lane) };
    });
  const [whole, fast] = [await seen(false), await seen(true)];
  t.deepEqual(
    fast.ends,
    Array.from({ length: 10 }, (_end, index) => index % 4 === 3),
  );
  t.deepEqual(whole.ends, fast.ends);
  t.is(whole.fast, 0);
  t.true(fast.fast >= 10);
});

test('requests that come together on one connection are answered in their order', async (t) => {
  await withLane({}, async ({ url, get, metric }) => {
    const { hostname, port, host } = new URL(url);
    const ask = async (last: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      const asked = [pathOf(), '/loki/api/v1/status/buildinfo', pathOf()].map(
        (path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      );
      socket.write(`${asked.join('')}GET ${last} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return text(socket);
    };
    for (let time = 0; time < 4; time += 1) await ask(pathOf());
    const before = await metric(lane);
    const answers = (await ask('/nothing')).split('HTTP/1.1 ').slice(1);
    t.deepEqual(
      answers.map((one) => [one.slice(0, 3), one.includes('line 99')]),
      [
        ['200', true],
        ['200', false],
        ['200', true],
        ['404', false],
      ],
    );
    t.true((await metric(lane)) > before);
    await get(pathOf());
  });
});

test('a client that leaves at once harms nobody', async (t) => {
  await withLane({}, async ({ url, get, metric }) => {
    for (let time = 0; time < 4; time += 1) await get(pathOf());
    const { hostname, port, host } = new URL(url);
    const before = await metric(lane);
    for (let time = 0; time < 50; time += 1) {
      const socket = connect(Number(port), hostname);
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write(`GET ${pathOf()} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      socket.resetAndDestroy();
    }
    const all = await Promise.all(Array.from({ length: 40 }, () => get(pathOf())));
    t.true(all.every(({ body }) => body.includes('line 99')));
    t.true((await metric(lane)) >= before + 40);
  });
});
