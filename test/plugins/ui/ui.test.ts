import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import {
  apiError,
  defineEndpoint,
  defineStage,
  type EndpointPlugin,
  type Exchange,
  type SlotName,
} from '../../../core/plugin/index.js';
import {
  makeLogAnswer,
  makePipeline,
  withPipeline,
  type PipelineSettings,
} from '../../../core/testing/index.js';
import type { UiOptions } from '../../../core/base/options.gen.js';
import { createUi } from '../../../plugins/ui/index.js';

const files = {
  'index.html': '<!doctype html><title>page</title>',
  'main.js': 'export {};'.repeat(100),
  'main.css': 'body{}',
  'notes.md': 'not for browsers',
};

/** The exchanges that the stage below received, from all tests. */
const seen: Exchange<SlotName>[] = [];
const metrics = { made_total: { type: 'counter', help: 'Made.' } } as const;
const end = defineStage<unknown, SlotName, SlotName, typeof metrics>({
  name: 'end',
  summary: 'Answers.',
  schema: {
    type: 'object',
    properties: {
      password: { type: 'string', 'x-secret': true },
      size: { type: 'integer', default: 1, description: 'How large.' },
    },
  },
  needs: [],
  gives: [],
  rest: 'never',
  metrics,
  create: (_options, host) => ({
    handle(exchange) {
      seen.push(exchange);
      host.meters.made_total.add(2, {});
      if (exchange.caller.orgId === 'locked') return Promise.reject(apiError('missingTenant', {}));
      return Promise.resolve(makeLogAnswer({ app: 'shop' }, ['hello']));
    },
  }),
});

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}
type Get = (path: string, headers?: Record<string, string>) => Promise<Got>;

async function withUi(
  use: (get: Get) => Promise<void>,
  settings: PipelineSettings & { readonly isBuilt?: boolean } = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-ui-'));
  if (settings.isBuilt !== false) {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  }
  const url = pathToFileURL(`${folder}/`);
  const ui: EndpointPlugin<UiOptions> = defineEndpoint({
    name: 'ui',
    servesAdmin: true,
    summary: 'The page.',
    create: (_options, host) => createUi(host, url),
  });
  const endpoints = [{ plugin: ui, options: { allowedHosts: [] } }];
  const stages = [{ plugin: end, options: { password: 'hidden-word', size: 2 } }];
  try {
    await withPipeline(makePipeline({ stages, endpoints, ...settings }), async ({ proxy }) => {
      const base = proxy.urls.admin ?? proxy.urls.main;
      await use(async (path, headers = {}) => {
        const response = await request(`${base}${path}`, { headers });
        const body = Buffer.from(await response.body.arrayBuffer());
        return { status: response.statusCode, headers: response.headers, body };
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Repeats the request until the response is as expected: run reports are completed a moment after a response. */
async function until(ask: () => Promise<Got>, isGood: (got: Got) => boolean): Promise<Got> {
  for (;;) {
    const got = await ask();
    if (isGood(got)) return got;
  }
}

function json(got: Got): unknown {
  return JSON.parse(got.body.toString());
}

test('/ui leads to the page, wherever a proxy in front has put it', async (t) => {
  await withUi(async (get) => {
    const moved = await get('/ui');
    t.is(moved.status, 302);
    t.is(moved.headers['location'], 'ui/');
    const page = await get('/ui/');
    t.is(page.status, 200);
    t.is(page.body.toString(), files['index.html']);
    t.is(page.headers['content-type'], 'text/html; charset=utf-8');
  });
});

test('the page may run and reach nothing but this origin', async (t) => {
  await withUi(async (get) => {
    for (const path of ['/ui/', '/ui/main.js', '/ui/main.css']) {
      const policy = String((await get(path)).headers['content-security-policy']);
      const parts = new Map(
        policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
      );
      t.is(parts.get('default-src'), "'none'", path);
      for (const kind of ['script-src', 'style-src', 'connect-src', 'img-src'])
        t.is(parts.get(kind), "'self'", kind);
      t.is(parts.get('frame-ancestors'), "'none'");
      t.false(policy.includes('unsafe'));
    }
  });
});

test('files are compressed for who takes it, and not sent again to who has them', async (t) => {
  await withUi(async (get) => {
    const packed = await get('/ui/main.js', { 'accept-encoding': 'gzip' });
    t.is(packed.headers['content-encoding'], 'gzip');
    t.true(packed.body.length < 100);
    t.is(gunzipSync(packed.body).toString(), files['main.js']);
    t.is(packed.headers['content-type'], 'text/javascript; charset=utf-8');
    const again = await get('/ui/main.js', { 'if-none-match': String(packed.headers['etag']) });
    t.is(again.status, 304);
    t.is(again.body.length, 0);
  });
});

test('only the page’s own files are served', async (t) => {
  await withUi(async (get) => {
    for (const path of [
      '/ui/notes.md',
      '/ui/none.js',
      '/ui/..%2fpackage.json',
      '/ui/api',
      '/ui/api/none',
      '/ui/constructor',
    ])
      t.is((await get(path)).status, 404, path);
  });
});

test('a page that was not built says how it is', async (t) => {
  await withUi(
    async (get) => {
      const got = await get('/ui/');
      t.is(got.status, 503);
      t.regex(got.body.toString(), /npm run build/);
      t.is((await get('/ui/api/pipeline')).status, 200);
    },
    { isBuilt: false },
  );
});

test('the pipeline is told as loaded, with figures and without secrets', async (t) => {
  await withUi(async (get) => {
    await get('/ui/api/query_range?query={app="shop"}');
    const got = await get('/ui/api/pipeline');
    t.false(got.body.includes('hidden-word'));
    const told = json(got) as {
      stages: readonly object[];
      endpoints: readonly object[];
      sections: readonly object[];
    };
    t.like(told, { file: 'made-up.yaml', notReady: [], backend: { calls: 0, errors: 0 } });
    t.like(told.stages[0], {
      id: 'end',
      summary: 'Answers.',
      at: 'made-up.yaml:1:1',
      figures: { calls: 1, errors: 0, answeredHere: 1 },
      meters: [{ name: 'ref_proxy_made_total', help: 'Made.', value: 2 }],
      options: [
        { key: 'password', isSet: true, isSecret: true },
        { key: 'passwordFile' },
        { key: 'size', value: '2', default: '1', isDefault: false },
      ],
    });
    t.like(told.endpoints[0], { id: 'ui' });
    t.is(told.sections.length, 4);
  });
});

test('a query runs through the chain as a client’s would', async (t) => {
  await withUi(async (get) => {
    const got = await get('/ui/api/query_range?query={app="shop"}&limit=7&direction=forward', {
      'x-scope-orgid': 'team-a',
      'x-loki-response-encoding-flags': 'categorize-labels',
    });
    t.is(got.status, 200);
    t.like(json(got), {
      status: 'success',
      data: { resultType: 'streams', result: [{ stream: { app: 'shop' } }] },
    });
    const asked = seen.filter(({ caller }) => caller.orgId === 'team-a');
    t.is(asked.length, 1);
    t.like(asked[0]?.request, { op: 'query_range', limit: 7, direction: 'forward' });
  });
});

test('names, values and fields are asked of the chain, for the tenant of the page', async (t) => {
  await withUi(async (get) => {
    const headers = { 'x-scope-orgid': 'team-names' };
    await get('/ui/api/labels?query={app="shop"}&start=1&end=2', headers);
    await get('/ui/api/label/app%2Fname/values?start=1&end=2', headers);
    await get('/ui/api/detected_fields?query={app="shop"}&start=1&end=2', headers);
    await get('/ui/api/format_query?query={app="shop"}', headers);
    await get('/ui/api/detected_field/a%2Fb/values?query={app="shop"}&start=1&end=2', headers);
    await get('/ui/api/top_values?query={app="shop"}&field=status&start=1&end=2', headers);
    await get('/ui/api/volume?query={app="shop"}&start=1&end=2&targetLabels=app', headers);
    await get('/ui/api/volume_range?query={app="shop"}&start=1&end=2&step=1', headers);
    const asked = seen.filter(({ caller }) => caller.orgId === 'team-names').map(({ request: { op } }) => op);
    t.deepEqual(asked, [
      'labels',
      'label_values',
      'detected_fields',
      'format_query',
      'detected_field_values',
      'query',
      'volume',
      'volume_range',
    ]);
    const values = seen.map(({ request: made }) => made).find(({ op }) => op === 'label_values');
    t.like(values, { name: 'app/name' });
  });
});

test('what is wrong with a query that is being written is told without a refusal', async (t) => {
  await withUi(async (get) => {
    t.deepEqual(json(await get('/ui/api/check?query={app="shop"}')), {});
    const got = await get(`/ui/api/check?query=${encodeURIComponent('{app="shop"} |= order')}`);
    t.is(got.status, 200);
    t.regex(String((json(got) as { error: unknown }).error), /^parse error at line 1, col 17: /);
  });
});

test('patterns are asked of the chain where the pipeline serves them, else the page is told why not', async (t) => {
  await withUi(async (get) => {
    const got = await get('/ui/api/patterns?query={app="shop"}&start=1&end=2');
    t.is(got.status, 400);
    t.regex(String((json(got) as { error: unknown }).error), /serves no patterns/);
  });
});

test('the outline of a query is told without a backend', async (t) => {
  await withUi(async (get) => {
    t.like(json(await get('/ui/api/outline?query={app="shop"}')), { kind: 'log', selector: '{app="shop"}' });
    t.like(json(await get('/ui/api/outline?query={app=')), { kind: 'wrong', selector: '' });
  });
});

test('a query is changed on its tree', async (t) => {
  await withUi(async (get) => {
    const query = encodeURIComponent('{app="shop"} | json');
    const got = await get(`/ui/api/edit?query=${query}&change=keep&of=row&name=status&value=50%22`);
    t.deepEqual(json(got), { query: '{app="shop"} | json | status="50\\""' });
    t.is((await get(`/ui/api/edit?query=${query}&change=paint`)).status, 400);
    t.is((await get('/ui/api/edit?query={app&change=keep&of=row&name=a&value=b')).status, 400);
  });
});

test('what a run cost is told to who knows its name', async (t) => {
  await withUi(async (get) => {
    const name = 'ab'.repeat(16);
    t.is((await get(`/ui/api/run?name=${name}`)).status, 404);
    await get('/ui/api/query_range?query={app="shop"}', { 'x-page-run': name });
    const report = await until(
      () => get(`/ui/api/run?name=${name}`),
      ({ status }) => status === 200,
    );
    t.like(json(report), { status: 200, calls: [], strategies: [] });
    // A name that could be guessed is not kept.
    await get('/ui/api/query_range?query={app="shop"}', { 'x-page-run': 'mine' });
    t.is((await get('/ui/api/run?name=mine')).status, 404);
    // Only a limited number is kept.
    for (let index = 0; index < 64; index++)
      await get('/ui/api/query_range?query={app="shop"}', {
        'x-page-run': index.toString(16).padStart(16, '0'),
      });
    await until(
      () => get('/ui/api/run?name=000000000000003f'),
      ({ status }) => status === 200,
    );
    t.is((await get(`/ui/api/run?name=${name}`)).status, 404);
  });
});

test('errors of a query are the server’s own text', async (t) => {
  await withUi(async (get) => {
    const refused = await get('/ui/api/explain?query={app=');
    t.is(refused.status, 400);
    t.regex(String((json(refused) as { error: unknown }).error), /^parse error at line 1, col /);
    const locked = await get('/ui/api/query_range?query={app="shop"}', { 'x-scope-orgid': 'locked' });
    t.is(locked.status, 401);
    t.like(json(locked), { error: 'missing X-Scope-OrgID header' });
    t.like(json(await get('/ui/api/pipeline')), { stages: [{ figures: { calls: 1, errors: 1 } }] });
  });
});

test('with an admin token the page loads without, and its data only with it', async (t) => {
  await withUi(
    async (get) => {
      t.is((await get('/ui/')).status, 200);
      for (const path of [
        '/ui/api/pipeline',
        '/ui/api/explain?query={a="b"}',
        '/ui/api/query_range?query={a="b"}',
        '/ui/api/labels?start=1&end=2',
        '/ui/api/label/app/values?start=1&end=2',
        '/ui/api/format_query?query={a="b"}',
        '/ui/api/edit?query={a="b"}&change=keep&name=c&value=d',
      ]) {
        t.is((await get(path)).status, 401, path);
        t.is((await get(path, { 'x-admin-token': 'wrong' })).status, 401, path);
        t.is((await get(path, { 'x-admin-token': 'open-sesame' })).status, 200, path);
        // With the token, any host name is allowed.
        t.is((await get(path, { 'x-admin-token': 'open-sesame', host: 'logs.example' })).status, 200, path);
      }
      t.false(
        (await get('/ui/api/pipeline', { 'x-admin-token': 'open-sesame' })).body.includes('open-sesame'),
      );
    },
    { server: { adminAuthToken: 'open-sesame' } },
  );
});

test('without a token the data is not given to pages of other names, whatever they send', async (t) => {
  await withUi(
    async (get) => {
      for (const path of [
        '/ui/api/pipeline',
        '/ui/api/explain?query={a="b"}',
        '/ui/api/query_range?query={a="b"}',
        '/ui/api/labels?start=1&end=2',
        '/ui/api/label/app/values?start=1&end=2',
        '/ui/api/format_query?query={a="b"}',
        '/ui/api/edit?query={a="b"}&change=keep&name=c&value=d',
      ]) {
        t.is((await get(path, { host: 'evil.example:3101' })).status, 403, path);
        t.is((await get(path, { host: 'evil.example', 'x-admin-token': 'made-up' })).status, 403, path);
        t.is((await get(path, { host: 'logs.example' })).status, 200, path);
      }
    },
    { server: { adminAllowedHosts: ['logs.example'] } },
  );
});
