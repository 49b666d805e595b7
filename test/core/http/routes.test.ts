import test from 'ava';
import { Client, request } from 'undici';
import { routes as all } from '../../../core/wire/routes-table.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import { serving, telling, text } from './fixtures.js';

/** All routes except those for other workers, which have a socket of their own and the paths of peers. */
const routes = all.filter(({ listener }) => listener !== 'workers');

test('the route table names every path once', (t) => {
  const paths = routes.flatMap((route) => route.paths);
  t.is(new Set(paths).size, paths.length);
  t.is(new Set(all.map((route) => route.id)).size, all.length);
});

test('every route answers under all its spellings with the same id', async (t) => {
  const handlers = Object.fromEntries(routes.map((route) => [route.id, telling]));
  const pipeline = makePipeline({
    endpoints: [serving(handlers)],
    server: { adminAuthToken: 'secret' },
    telemetry: { registerInstrumentation: true, logLevel: 'error' },
  });
  await withPipeline(pipeline, async ({ url }) => {
    for (const route of routes) {
      for (const path of route.paths) {
        const filled = path.replace(/\{\w+\}/g, 'x');
        const headers = { 'x-admin-token': 'secret' };
        const { statusCode, body } = await request(url + filled, {
          method: route.methods[0] ?? 'GET',
          headers,
        });
        const told: unknown = await body.json();
        t.is(statusCode, 200, filled);
        t.like(told, { route: route.id, path: filled });
      }
    }
  });
});

const spellings: readonly (readonly [path: string, id: string])[] = [
  ['/loki/api/v1/label', 'labels'],
  ['/ref/api/v1/label', 'labels'],
  ['/ref/api/v1/query_range', 'query_range'],
  ['/api/prom/label', 'labels'],
  ['/api/pm/label/app/values', 'label_values'],
  ['/api/prom/series', 'series'],
  ['/api/pm/rules/a/b', 'rules_group'],
  ['/api/prom/rules', 'rules'],
  ['/pm/api/v1/rules', 'pm_rules'],
  ['/prometheus/api/v1/alerts', 'pm_alerts'],
];
for (const [path, id] of spellings) {
  test(`${path} is a spelling of the route ${id}`, (t) => {
    const pattern = (spelling: string): RegExp => new RegExp(`^${spelling.replace(/\{\w+\}/g, '[^/]+')}$`);
    t.deepEqual(
      routes
        .filter((route) => route.paths.some((spelling) => pattern(spelling).test(path)))
        .map((route) => route.id),
      [id],
    );
  });
}

test('unknown paths and routes that no plugin serves are the same plain 404', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ labels: telling })] }), async ({ url }) => {
    for (const path of [
      '/nosuch',
      '/loki/api/v1/tail',
      '/loki/api/v1/labels/',
      '/LOKI/api/v1/labels',
      '/metrics',
    ]) {
      const { statusCode, headers, body } = await request(url + path);
      t.is(statusCode, 404, path);
      t.is(headers['content-type'], 'text/plain; charset=utf-8');
      t.is(headers['x-content-type-options'], 'nosniff');
      t.is((await body.text()).trim(), '404 page not found');
    }
  });
});

test('a path with empty parts or dots is sent on to the one without', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ labels: telling })] }), async ({ url }) => {
    for (const [path, location] of [
      ['/loki/api/v1/label//values?a=//', '/loki/api/v1/label/values?a=//'],
      ['//evil.example/loki', '/evil.example/loki'],
      ['//\\evil.example/loki', '/%5Cevil.example/loki'],
    ] as const) {
      // The path unchanged: a URL would turn the backslash into a slash.
      const client = new Client(url);
      t.teardown(() => client.close());
      const { statusCode, headers, body } = await client.request({ path, method: 'GET' });
      t.is(statusCode, 301);
      t.is(headers['location'], location);
      t.is(await body.text(), '');
    }
  });
});

test('a method that a route does not take is refused with the ones it does', async (t) => {
  await withPipeline(
    makePipeline({ endpoints: [serving({ labels: telling, tail: telling })] }),
    async ({ url }) => {
      const refused = await request(`${url}/loki/api/v1/labels`, { method: 'DELETE' });
      t.is(refused.statusCode, 405);
      t.is(refused.headers['allow'], 'GET, POST');
      t.deepEqual(await refused.body.json(), {
        status: 'error',
        errorType: 'bad_data',
        error: 'method not allowed',
        message: 'method not allowed',
      });
      const post = await request(`${url}/loki/api/v1/tail`, { method: 'POST' });
      t.is(post.statusCode, 405);
      await post.body.dump();
    },
  );
});

test('HEAD has the headers of GET and no body', async (t) => {
  const body = 'x'.repeat(50);
  await withPipeline(
    makePipeline({ endpoints: [serving({ ready: () => Promise.resolve(text(body)) })] }),
    async ({ url }) => {
      const head = await request(`${url}/ready`, { method: 'HEAD' });
      t.is(head.statusCode, 200);
      t.is(head.headers['content-length'], '50');
      t.is(await head.body.text(), '');
    },
  );
});

test('path parameters are decoded, encoded slashes included, and names from Object have no power', async (t) => {
  const pipeline = makePipeline({ endpoints: [serving({ label_values: telling })] });
  await withPipeline(pipeline, async ({ url }) => {
    for (const name of ['a/b', 'größe', '__proto__', 'constructor']) {
      const { body } = await request(
        `${url}/loki/api/v1/label/${encodeURIComponent(name)}/values?__proto__=1&a=2`,
      );
      const told: unknown = await body.json();
      t.like(told, { pathParams: [['name', name]] });
      t.like(told, {
        params: [
          ['__proto__', ['1']],
          ['a', ['2']],
        ],
      });
    }
  });
});

test('headers are read under both spellings', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ labels: telling })] }), async ({ url }) => {
    const ask = async (headers: Record<string, string>): Promise<unknown> => {
      const { body } = await request(`${url}/loki/api/v1/labels`, { headers });
      return body.json();
    };
    t.like(await ask({ 'X-Loki-Response-Encoding-Flags': 'a, categorize-labels' }), { categorize: true });
    t.like(await ask({ 'X-Ref-Response-Encoding-Flags': 'categorize-labels' }), { categorize: true });
    t.like(await ask({ 'X-Loki-Response-Encoding-Flags': 'Categorize-Labels' }), { categorize: false });
    t.like(await ask({ 'X-Query-Tags': 'User=x,Source=Grafana-LokiExplore-App' }), { drilldown: true });
    t.like(await ask({ 'X-Scope-OrgID': 't1' }), { orgId: 't1', drilldown: false });
  });
});

test('admin routes need the token where one is set, as bearer or in their own header', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ debug_queries: telling })],
    server: { adminAuthToken: 'secret' },
  });
  await withPipeline(pipeline, async ({ url, proxy }) => {
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const { statusCode, body } = await request(`${url}/debug/queries`, { headers });
      await body.dump();
      return statusCode;
    };
    t.is(proxy.urls.admin, undefined);
    t.is(await ask({}), 401);
    t.is(await ask({ authorization: 'Bearer wrong' }), 401);
    t.is(await ask({ authorization: 'Bearer secret' }), 200);
    t.is(await ask({ 'x-admin-token': 'secret' }), 200);
  });
});

test('without a token admin routes live on their own listener only', async (t) => {
  await withPipeline(
    makePipeline({ endpoints: [serving({ debug_queries: telling })] }),
    async ({ url, proxy }) => {
      const main = await request(`${url}/debug/queries`);
      t.is(main.statusCode, 404);
      await main.body.dump();
      const admin = await request(`${proxy.urls.admin ?? ''}/debug/queries`);
      t.is(admin.statusCode, 200);
      await admin.body.dump();
    },
  );
});
