import test from 'ava';
import { request } from 'undici';
import type { AdminOptions } from '../../../core/base/options.gen.js';
import type { Urls } from '../../../core/http/listener.js';
import type { StagePlugin } from '../../../core/plugin/index.js';
import { makePipeline, withPipeline, type PipelineSettings } from '../../../core/testing/index.js';
import admin from '../../../plugins/admin/index.js';
import { lastStage } from '../../core/http/fixtures.js';
import referenceApi from '../../../plugins/reference-api/index.js';

const off: AdminOptions = { enableQueryAnalytics: false, enablePprof: false };
const instrumented = { telemetry: { registerInstrumentation: true } };

async function withAdmin(
  options: Partial<AdminOptions>,
  use: (urls: Urls) => Promise<void>,
  settings: PipelineSettings = {},
): Promise<void> {
  const endpoints = [{ plugin: admin, options: { ...off, ...options } }, referenceApi];
  await withPipeline(makePipeline({ ...settings, endpoints }), async ({ proxy }) => use(proxy.urls));
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}
async function send(method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}): Promise<Got> {
  const response = await request(url, { method, headers });
  return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
}

/** A stage in front that counts purges. */
function counting(purges: string[]): readonly StagePlugin[] {
  const end = lastStage(() => Promise.resolve({ kind: 'names', values: [], warnings: [] }));
  return [
    {
      ...end,
      create: (options, host) => ({
        ...end.create(options, host),
        purge: (scope) => {
          purges.push(scope);
        },
      }),
    },
  ];
}

test('a flush empties every cache and says so', async (t) => {
  const purges: string[] = [];
  await withAdmin(
    {},
    async ({ admin: url }) => {
      const got = await send('POST', `${url ?? ''}/admin/cache/flush`);
      t.is(got.status, 200);
      t.is(got.headers['content-type'], 'application/json');
      t.is(got.text, '{"local":"purged (L0 hot index + L1 memory + L2 disk)","status":"ok"}');
    },
    { ...instrumented, stages: counting(purges) },
  );
  t.deepEqual(purges, ['all']);
});

test('a flush that names peers is told that there are none', async (t) => {
  await withAdmin(
    {},
    async ({ admin: url }) => {
      for (const yes of ['?peers=1', '?peers', '?peers=yes']) {
        const got = await send('POST', `${url ?? ''}/admin/cache/flush${yes}`);
        t.deepEqual(JSON.parse(got.text), {
          local: 'purged (L0 hot index + L1 memory + L2 disk)',
          peers: { _note: 'peer cache disabled; purged local instance only' },
          status: 'ok',
        });
      }
      for (const no of ['?peers=0', '?peers=false', '?peers=no', '?peers=OFF']) {
        const got = await send('POST', `${url ?? ''}/admin/cache/flush${no}`);
        t.false('peers' in (JSON.parse(got.text) as object), no);
      }
    },
    instrumented,
  );
});

test('a flush is a POST, on the admin listener, and only with instrumentation', async (t) => {
  await withAdmin(
    {},
    async ({ main, admin: url }) => {
      const got = await send('GET', `${url ?? ''}/admin/cache/flush`);
      t.is(got.status, 405);
      t.is(got.headers['allow'], 'POST');
      t.like(JSON.parse(got.text), { status: 'error', errorType: 'bad_data', error: 'method not allowed' });
      t.is((await send('POST', `${main}/admin/cache/flush`)).status, 404);
    },
    instrumented,
  );
  await withAdmin({}, async ({ main, admin: url }) => {
    const off = '404 page not found: set -server.register-instrumentation=true to enable this route\n';
    t.like(await send('POST', `${url ?? ''}/admin/cache/flush`), { status: 404, text: off });
    t.like(await send('POST', `${main}/admin/cache/flush`), { status: 404, text: '404 page not found\n' });
  });
});

test('with an admin token the routes are on the main listener, behind it', async (t) => {
  await withAdmin(
    { enableQueryAnalytics: true },
    async ({ main, admin: url }) => {
      t.is(url, undefined);
      for (const [method, path] of [
        ['POST', '/admin/cache/flush'],
        ['GET', '/debug/queries'],
      ] as const) {
        const refused = await send(method, main + path, { 'x-admin-token': 'wrong' });
        t.is(refused.status, 401);
        t.true(refused.text.includes('admin authentication required'));
        t.is((await send(method, main + path, { authorization: 'Bearer secret' })).status, 200);
      }
    },
    { ...instrumented, server: { adminAuthToken: 'secret' } },
  );
});

test('query analytics count what clients ask, and are off unless asked for', async (t) => {
  const stages = [
    lastStage(({ request: asked }) =>
      asked.op === 'series'
        ? Promise.reject(new Error('broken'))
        : Promise.resolve({ kind: 'names', values: [], warnings: [] }),
    ),
  ];
  const settings = { ...instrumented, stages };
  await withAdmin(
    { enableQueryAnalytics: true },
    async ({ main, admin: url }) => {
      for (const path of ['labels?query=%7Ba%3D%22b%22%7D', 'labels?query=%7Ba%3D%22b%22%7D', 'labels']) {
        await send('GET', `${main}/loki/api/v1/${path}`);
      }
      await send('GET', `${main}/loki/api/v1/series?query=x`);
      const { headers, text } = await send('GET', `${url ?? ''}/debug/queries`);
      t.is(headers['content-type'], 'application/json');
      t.like(JSON.parse(text), {
        total_queries: 3,
        unique_queries: 2,
        top_by_errors: { 0: { query: 'x', endpoint: 'series', errors: 1, count: 1 }, length: 1 },
        top_by_frequency: { 0: { query: '{a="b"}', endpoint: 'labels', errors: 0, count: 2 } },
      });
    },
    settings,
  );
  await withAdmin(
    {},
    async ({ admin: url }) => {
      for (const [path, flag] of [
        ['queries', '-server.enable-query-analytics'],
        ['pprof/', '-server.enable-pprof'],
      ] as const) {
        const off = `404 page not found: set ${flag}=true to enable this route\n`;
        t.like(await send('GET', `${url ?? ''}/debug/${path}`), { status: 404, text: off });
      }
    },
    settings,
  );
});

test('GET /debug/explain tells what becomes of a query, on the admin listener', async (t) => {
  await withAdmin({}, async ({ main, admin: url }) => {
    const path = `/debug/explain?query=${encodeURIComponent('{app="a"} |= "x"')}`;
    const text = await send('GET', `${url ?? ''}${path}`);
    t.is(text.status, 200);
    t.regex(text.text, /^query {3}\{app="a"\} \|= "x"\ntree {4}\(log /);
    const json = await send('GET', `${url ?? ''}${path}&format=json`);
    t.like(JSON.parse(json.text), { cost: 'page' });
    const bad = await send('GET', `${url ?? ''}/debug/explain?query=%7B`);
    t.is(bad.status, 400);
    t.regex(bad.text, /parse error at line 1, col 2/);
    t.is((await send('GET', `${main}${path}`)).status, 404);
  });
});
