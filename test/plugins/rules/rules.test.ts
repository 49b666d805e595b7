import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { request } from 'undici';
import { parse } from 'yaml';
import type { RulesOptions } from '../../../core/base/options.gen.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import rules from '../../../plugins/rules/index.js';
import { tenantStages } from '../tenant-stages.js';
import { recording, withVmalert, type Received, type Respond } from './fake-vmalert.js';

interface Got {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/** The response of a proxy that serves only rules. */
async function get(
  path: string,
  options: Partial<RulesOptions> = {},
  headers: Readonly<Record<string, string>> = {},
  tenancy: Readonly<Record<string, unknown>> = {},
): Promise<Got> {
  const endpoint = { plugin: rules, options: { timeout: 60_000, ...options } };
  return withPipeline(
    makePipeline({ stages: tenantStages(tenancy), endpoints: [endpoint] }),
    async ({ url }) => {
      const response = await request(url + path, { headers });
      const type = response.headers['content-type'];
      const text = await response.body.text();
      return { status: response.statusCode, type: typeof type === 'string' ? type : undefined, text };
    },
  );
}

interface Asked {
  readonly got: Got;
  readonly received: readonly Received[];
}

/** The response of a proxy in front of vmalert, and the requests that vmalert received. */
async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  respond?: Respond,
  tenancy: Readonly<Record<string, unknown>> = {},
): Promise<Asked> {
  return withVmalert(async ({ url, received }) => {
    const got = await get(path, { rulerBackend: url }, headers, tenancy);
    return { got, received };
  }, respond);
}

const errorOf = (got: Got): unknown => (JSON.parse(got.text) as { readonly error: unknown }).error;

for (const path of ['/loki/api/v1/rules', '/ref/api/v1/rules', '/api/prom/rules', '/api/pm/rules']) {
  test(`${path} is an empty map without a rules backend`, async (t) => {
    t.deepEqual(await get(path), { status: 200, type: 'application/yaml', text: '{}\n' });
  });
}

for (const path of ['/prometheus/api/v1/rules', '/pm/api/v1/rules']) {
  test(`${path} has no groups without a rules backend`, async (t) => {
    t.deepEqual(await get(path), {
      status: 200,
      type: 'application/json',
      text: '{"status":"success","data":{"groups":[]},"errorType":"","error":""}',
    });
  });
}

const alertPaths = [
  '/loki/api/v1/alerts',
  '/ref/api/v1/alerts',
  '/api/prom/alerts',
  '/api/pm/alerts',
  '/prometheus/api/v1/alerts',
  '/pm/api/v1/alerts',
];
for (const path of alertPaths) {
  test(`${path} is empty without a backend, and the backend’s own answer with one`, async (t) => {
    t.is((await get(path)).text, '{"status":"success","data":{"alerts":[]},"errorType":"","error":""}');
    const { got, received } = await ask(path);
    t.is(got.text, recording('alerts').toString());
    t.is(received[0]?.path, '/api/v1/alerts');
  });
}

test('alerts come from the alerts backend where there is one', async (t) => {
  await withVmalert(async ({ url }) => {
    const got = await get('/loki/api/v1/alerts', { alertsBackend: url, rulerBackend: 'http://127.0.0.1:1' });
    t.is(got.text, recording('alerts').toString());
  });
});

test('the JSON view is the rules backend’s own answer; parameters and the tenant go on, credentials do not', async (t) => {
  const headers = {
    'x-scope-orgid': 'team-a',
    authorization: 'Bearer secret',
    cookie: 'session=secret',
    accountid: '7',
  };
  const { got, received } = await ask(
    '/prometheus/api/v1/rules?exclude_alerts=true&rule_name%5B%5D=x',
    headers,
    undefined,
    { tenantMap: { 'team-a': { account_id: 11, project_id: 3 } } },
  );
  t.is(got.status, 200);
  t.is(got.type, 'application/json');
  t.is(got.text, recording('rules').toString());
  const [sent] = received;
  t.is(sent?.params.toString(), 'exclude_alerts=true&rule_name%5B%5D=x');
  t.is(sent?.headers['x-scope-orgid'], 'team-a');
  for (const name of ['authorization', 'cookie']) t.is(sent?.headers[name], undefined);
  t.is(sent?.headers['accountid'], '11');
  t.is(sent?.headers['projectid'], '3');
});

test('the YAML view has a list of groups per file, in Loki’s fields', async (t) => {
  const { got } = await ask('/loki/api/v1/rules');
  t.is(got.status, 200);
  t.is(got.type, 'application/yaml');
  t.deepEqual(parse(got.text), {
    'rules/checkout.yml': [
      {
        name: 'checkout',
        interval: '1s',
        rules: [
          {
            alert: 'ErrorsInCheckout',
            expr: 'vector(1) > 0',
            for: '5m',
            keep_firing_for: '2m',
            labels: { severity: 'page' },
            annotations: { summary: 'checkout fails on {{ $labels.instance }}' },
          },
          { alert: 'AlwaysFiring', expr: 'vector(2)', labels: { severity: 'info' } },
          {
            record: 'checkout:rate:5m',
            expr: 'sum(rate(requests_total[5m])) by (app)',
            labels: { team: 'shop' },
          },
        ],
      },
      { name: 'quiet', interval: '1m30s', rules: [{ alert: 'NeverFires', expr: 'vector(0) > 1' }] },
    ],
    'rules/logs.yml': [
      {
        name: 'logs/errors',
        interval: '1m',
        rules: [
          {
            alert: 'TooManyErrors',
            expr: '_time:5m level:error | stats count() as errors | filter errors:>10',
            annotations: { description: 'line one\nline two' },
          },
        ],
      },
    ],
  });
  t.regex(got.text, /^rules\/checkout\.yml:\n {4}- name: checkout\n {6}interval: 1s\n/);
});

test('a namespace is asked for by its file, with encoded slashes', async (t) => {
  for (const prefix of ['/loki/api/v1/rules', '/api/prom/rules']) {
    const { got, received } = await ask(`${prefix}/rules%2Fcheckout.yml?file%5B%5D=other.yml`);
    t.deepEqual(Object.keys(parse(got.text) as object), ['rules/checkout.yml']);
    t.is(received[0]?.params.toString(), 'file%5B%5D=rules%2Fcheckout.yml');
  }
});

test('a group is the group itself', async (t) => {
  const { got, received } = await ask('/api/prom/rules/rules%2Flogs.yml/logs%2Ferrors');
  t.like(parse(got.text), { name: 'logs/errors', interval: '1m' });
  t.is(received[0]?.params.get('rule_group[]'), 'logs/errors');
});

test('a backend that does not filter is filtered here', async (t) => {
  const everything: Respond = () => [200, recording('rules')];
  const { got } = await ask('/loki/api/v1/rules/rules%2Flogs.yml', {}, everything);
  t.deepEqual(Object.keys(parse(got.text) as object), ['rules/logs.yml']);
  const quiet = await ask('/loki/api/v1/rules/rules%2Fcheckout.yml/quiet', {}, everything);
  t.like(parse(quiet.got.text), { name: 'quiet' });
});

test('what does not exist is 404 with Loki’s texts', async (t) => {
  const namespace = await ask('/loki/api/v1/rules/nosuch');
  t.is(namespace.got.status, 404);
  t.is(errorOf(namespace.got), 'no rule groups found');
  const group = await ask('/loki/api/v1/rules/nosuch/group');
  t.is(group.got.status, 404);
  t.is(errorOf(group.got), 'group does not exist');
  const none = await ask('/loki/api/v1/rules', {}, () => [200, recording('none')]);
  t.is(errorOf(none.got), 'no rule groups found');
});

test('Grafana’s ruler probe fails with a text it knows, with a rules backend and without', async (t) => {
  for (const got of [
    await get('/api/prom/rules/test/test'),
    (await ask('/api/prom/rules/test/test', {}, () => [200, recording('rules')])).got,
  ]) {
    t.is(got.status, 404);
    t.true(got.text.includes('page not found'));
  }
});

test('paths that can name no rules are refused', async (t) => {
  const traversal = await ask('/loki/api/v1/rules/..%2F..%2Fetc');
  t.is(traversal.got.status, 400);
  t.is(errorOf(traversal.got), 'invalid namespace: path traversal not allowed');
  const control = await ask('/loki/api/v1/rules/a%0Ab/g');
  t.is(control.got.status, 400);
  t.is(errorOf(control.got), 'invalid legacy rules path');
  t.deepEqual([...traversal.received, ...control.received], []);
});

test('a parameter that the backend refuses is 400 with its text', async (t) => {
  const { got } = await ask('/prometheus/api/v1/rules?type=foo');
  t.is(got.status, 400);
  t.is(errorOf(got), 'invalid parameter "type": not supported value "foo"');
});

const failures: readonly (readonly [what: string, respond: Respond, error: string])[] = [
  [
    'an error of the backend',
    () => [503, Buffer.from('down')],
    'rules backend failed: it answered with status 503',
  ],
  [
    'an answer that is not JSON',
    () => [200, Buffer.from('<html>')],
    'rules backend failed: its answer is not JSON',
  ],
  [
    'an answer that is too long',
    () => [200, Buffer.alloc(16 * 1024 * 1024 + 1, ' ')],
    'rules backend failed: its answer is larger than 16777216 bytes',
  ],
];
for (const [what, respond, error] of failures) {
  test(`${what} is 502`, async (t) => {
    const { got } = await ask('/prometheus/api/v1/rules', {}, respond);
    t.is(got.status, 502);
    t.is(errorOf(got), error);
  });
}

test('JSON without groups is no set of rules', async (t) => {
  const { got } = await ask('/loki/api/v1/rules', {}, () => [200, Buffer.from('{"data":{}}')]);
  t.is(got.status, 502);
  t.is(errorOf(got), 'rules backend failed: its answer has no rule groups');
});

test('no connection is 502, and no answer in time 504', async (t) => {
  const gone = await get('/loki/api/v1/rules', { rulerBackend: 'http://127.0.0.1:1' });
  t.is(gone.status, 502);
  t.regex(String(errorOf(gone)), /^rules backend failed: .*ECONNREFUSED/);
  await withVmalert(
    async ({ url }) => {
      const slow = await get('/loki/api/v1/rules', { rulerBackend: url, timeout: 20 });
      t.is(slow.status, 504);
      t.is(errorOf(slow), 'rules backend failed: no answer within 20 ms');
    },
    () => [0, Buffer.alloc(0)],
  );
});

test('each call has a connection of its own, which nobody can have closed before', async (t) => {
  const document = { data: { groups: [] } };
  // Resets a connection at its second call, as if it had been closed just before.
  const server = createServer((socket) => {
    let isAnswered = false;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (isAnswered) return socket.resetAndDestroy();
      isAnswered = true;
      const body = JSON.stringify(document);
      return socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // The address of a listening TCP server is never a string or null.
  const { port } = server.address() as AddressInfo;
  const options = { timeout: 60_000, rulerBackend: `http://127.0.0.1:${port}` };
  const pipeline = makePipeline({ stages: tenantStages({}), endpoints: [{ plugin: rules, options }] });
  await withPipeline(pipeline, async ({ url }) => {
    const rulesOf = async (): Promise<unknown> =>
      (await request(`${url}/prometheus/api/v1/rules`)).body.json();
    const atOnce = await Promise.all([rulesOf(), rulesOf()]);
    t.deepEqual([...atOnce, await rulesOf()], [document, document, document]);
  });
});

test('no error text shows the credentials of the rules backend', async (t) => {
  await withVmalert(
    async ({ url }) => {
      for (const base of [url, 'http://127.0.0.1:1'].map((each) => each.replace('//', '//user:hush@'))) {
        const got = await get('/loki/api/v1/rules', { rulerBackend: base });
        t.is(got.status, 502);
        t.notRegex(got.text, /hush/);
      }
    },
    () => [500, Buffer.from('down')],
  );
});

const rulePaths = [
  '/loki/api/v1/rules',
  '/api/prom/rules/a',
  '/api/prom/rules/test/test',
  '/prometheus/api/v1/rules',
];
for (const path of [...rulePaths, '/prometheus/api/v1/alerts']) {
  test(`${path} is refused to whom the chain refuses`, async (t) => {
    const asked = await ask(path, {}, undefined, { authEnabled: true });
    t.is(asked.got.status, 401);
    t.is(errorOf(asked.got), 'missing X-Scope-OrgID header');
    const several = await ask(path, { 'x-scope-orgid': '1|2' });
    t.is(several.got.status, 400);
    t.deepEqual([...asked.received, ...several.received], []);
  });
}

test('a tenant without data has no rules and no alerts, and the backend is not asked', async (t) => {
  const nobody = { 'x-scope-orgid': 'nobody' };
  const views = await Promise.all(
    ['rules', 'alerts'].map((view) => ask(`/prometheus/api/v1/${view}`, nobody)),
  );
  t.deepEqual(
    views.map(({ got }) => (JSON.parse(got.text) as { readonly data: unknown }).data),
    [{ groups: [] }, { alerts: [] }],
  );
  const yaml = await ask('/loki/api/v1/rules', nobody);
  t.is(yaml.got.status, 404);
  t.deepEqual(
    [...views, yaml].flatMap(({ received }) => received),
    [],
  );
});
