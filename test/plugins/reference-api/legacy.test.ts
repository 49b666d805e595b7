import test, { type ExecutionContext } from 'ava';
import { withLegacyDoor, type Get } from './legacy-door.js';

const legacy = '/api/prom/query';
const modern = '/loki/api/v1/query_range';
const categorize = { 'x-loki-response-encoding-flags': 'categorize-labels' };

// The shapes are those that a Loki 3 returned for the same lines.
const cart = {
  labels: '{app="cart", detected_level="unknown", env="prod", service_name="cart"}',
  entries: [
    { ts: '2026-11-01T00:00:03.12Z', line: 'plain B' },
    { ts: '2026-11-01T00:00:01Z', line: 'plain A' },
  ],
};
const failed = {
  labels: String.raw`{app="shop", detected_level="error", service_name="shop", trace_id="abc", zone="b\"q\\x\n\u2028"}`,
  entries: [{ ts: '2026-11-01T00:00:01.5Z', line: 'level=error msg="no stock"' }],
};
const done = {
  labels: String.raw`{app="shop", detected_level="info", service_name="shop", trace_id="def", zone="b\"q\\x\n\u2028"}`,
  entries: [{ ts: '2026-11-01T00:00:02.123456789Z', line: 'level=info msg=ok' }],
};
const opened = {
  labels: String.raw`{app="shop", detected_level="unknown", service_name="shop", zone="b\"q\\x\n\u2028"}`,
  entries: [{ ts: '2026-11-01T00:00:00Z', line: 'open "now" <b>' }],
};
const ofOther = (tenant = ''): object => ({
  labels: `{${tenant}app="other", detected_level="unknown", service_name="other"}`,
  entries: [{ ts: '2026-11-01T00:00:01Z', line: 'of tenant 2' }],
});

/** A test of a proxy over a few lines. */
function door(title: string, use: (get: Get, t: ExecutionContext) => Promise<void>): void {
  test(title, (t) => withLegacyDoor((get) => use(get, t)));
}

door('entries have times of RFC 3339, and stand below the text of their labels', async (get, t) => {
  for (const path of [legacy, '/api/pm/query']) {
    for (const method of ['GET', 'POST'] as const) {
      const { status, type, json, text } = await get(path, { query: '{app=~"cart|shop"}' }, {}, method);
      t.is(status, 200);
      t.is(type, 'application/json; charset=UTF-8');
      t.deepEqual(json, { streams: [cart, failed, done, opened] });
      t.regex(text, /^\{"streams":\[\{"labels":.*\],"stats":\{"summary":\{.*\}\}\}$/s);
    }
  }
});

door(
  'what a parser found stands in its entry and in the labels, structured metadata in the labels only',
  async (get, t) => {
    const query = '{app="shop"} | logfmt | level="error" | drop service_name';
    const entry = { ...failed.entries[0], parsed: { level: 'error', msg: 'no stock' } };
    const zone = String.raw`zone="b\"q\\x\n\u2028"`;
    const merged = `{app="shop", detected_level="error", level="error", msg="no stock", trace_id="abc", ${zone}}`;
    t.deepEqual((await get(legacy, { query })).json, { streams: [{ labels: merged, entries: [entry] }] });
    const apart = `{app="shop", ${zone}}`;
    t.deepEqual((await get(legacy, { query }, categorize)).json, {
      streams: [{ labels: apart, entries: [entry] }],
    });
  },
);

door('streams whose labels became equal are one stream, in the order of the direction', async (get, t) => {
  const query = '{app=~"cart|shop"} | keep nothing';
  const entries = [...opened.entries, ...cart.entries, ...failed.entries, ...done.entries];
  const forward = entries.toSorted((a, b) => Date.parse(a.ts) - Date.parse(b.ts));
  const streams = (of: readonly object[]): object => ({ streams: [{ labels: '{}', entries: of }] });
  t.deepEqual((await get(legacy, { query, direction: 'forward' })).json, streams(forward));
  t.deepEqual((await get(legacy, { query })).json, streams(forward.toReversed()));
  t.deepEqual((await get(legacy, { query, limit: '2' })).json, streams(forward.toReversed().slice(0, 2)));
});

door('regexp filters the lines that the query gives, whatever it ends with', async (get, t) => {
  const ask = async (query: string, regexp: string): Promise<unknown> =>
    (await get(legacy, { query, regexp })).json;
  t.deepEqual(await ask('{app="shop"} # all', '^level=(err|warn)'), { streams: [failed] });
  t.deepEqual(await ask('{app="cart"} |= "A" or "B"', ''), { streams: [cart] });
  t.deepEqual(await ask('{app="shop"} | line_format "zz"', 'level'), { streams: [] });
  t.deepEqual(await ask('{app="cart"}', 'PLAIN'), { streams: [] });
  t.deepEqual(await ask('{app="cart"}', '"`\\\\'), { streams: [] });
  const ignored = await get(modern, { query: '{app="cart"}', regexp: 'A$' });
  t.true(ignored.text.includes('plain B'));
});

const refusals: readonly (readonly [params: Readonly<Record<string, string>>, text: string])[] = [
  [{ query: '' }, 'parse error : syntax error: unexpected $end'],
  [
    { query: '{app="cart"' },
    'parse error at line 1, col 12: syntax error: unexpected $end, expecting } or ,',
  ],
  [
    { query: 'rate({app="cart"}[5m])' },
    'rpc error: code = Code(400) desc = legacy endpoints only support streams result type',
  ],
  [
    // Rejected before its evaluation, which would fail.
    { query: 'sum_over_time({app="shop"} | unwrap app [5m])' },
    'rpc error: code = Code(400) desc = legacy endpoints only support streams result type',
  ],
  [{ query: '1+1' }, 'rpc error: code = Code(400) desc = legacy endpoints only support streams result type'],
  [
    { query: '{app="cart"}', regexp: '(' },
    'parse error : stage \'|~ "("\' : error parsing regexp: missing closing ): `(`',
  ],
  [
    { query: 'rate({app="cart"}[5m])', regexp: 'x' },
    'rpc error: code = Code(400) desc = only log selector is supported',
  ],
  [
    { query: '{app="cart"', regexp: '(' },
    'rpc error: code = Code(400) desc = parse error at line 1, col 12: syntax error: unexpected $end, expecting } or ,',
  ],
  [{ query: '{app="cart"}', limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
  [{ query: '{app="cart"}', limit: '0' }, 'limit must be a positive value'],
  [{ query: '{app="cart"}', direction: 'up' }, "invalid direction 'up'"],
  [
    { query: '{app="cart"}', start: '5', end: '4' },
    'end timestamp must not be before or equal to start time',
  ],
  [
    { query: 'rate({app="cart"}[1m])', step: '0.001' },
    'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  ],
];
door('what Loki refuses is refused with its texts', async (get, t) => {
  for (const [params, error] of refusals) {
    const { status, json } = await get(legacy, params);
    t.is(status, 400, JSON.stringify(params));
    t.is(json['error'], error);
  }
});

door('labels, their values and series have the shape that all routes have', async (get, t) => {
  const cartSeries = { app: 'cart', env: 'prod', service_name: 'cart' };
  const listings: readonly (readonly [
    path: string,
    params: Readonly<Record<string, string>>,
    data: unknown,
  ])[] = [
    ['label', {}, ['app', 'env', 'service_name', 'zone']],
    ['label', { query: '{app="cart"}' }, ['app', 'env', 'service_name']],
    ['label', { query: '{app="none"}' }, undefined],
    ['label/app/values', {}, ['cart', 'shop']],
    ['label/app/values', { query: '{env="prod"}' }, ['cart']],
    ['label/none/values', {}, undefined],
    ['series', { match: '{app="cart"}' }, [cartSeries]],
    ['series', { 'match[]': '{env="prod"}' }, [cartSeries]],
    ['series', { match: '{app="none"}' }, []],
  ];
  for (const [path, params, data] of listings) {
    for (const prefix of ['/api/prom/', '/api/pm/']) {
      for (const method of ['GET', 'POST'] as const) {
        const { status, json } = await get(prefix + path, params, {}, method);
        t.is(status, 200);
        t.deepEqual(json, { status: 'success', ...(data === undefined ? {} : { data }) }, path);
      }
    }
  }
  t.is(
    (await get('/api/prom/series', { match: '{app="cart"} |= "x"' })).json['error'],
    'only label matchers are supported',
  );
});

door('several tenants are answered together, and refused like elsewhere', async (get, t) => {
  const ask = async (orgId: string, path: string, query: string): Promise<unknown> =>
    (await get(path, { query }, { 'x-scope-orgid': orgId })).json;
  const tenant = (id: number): string => `__tenant_id__="${id}", `;
  const mine = { ...cart, labels: cart.labels.replace('{', `{${tenant(1)}`) };
  t.deepEqual(await ask('1|2', legacy, '{app=~"cart|other"}'), { streams: [mine, ofOther(tenant(2))] });
  t.deepEqual(await ask('1|2', legacy, '{app=~"cart|other", __tenant_id__="2"}'), {
    streams: [ofOther(tenant(2))],
  });
  t.deepEqual(await ask('2', legacy, '{app=~"cart|other"}'), { streams: [ofOther()] });
  t.like(await ask('1|2', '/api/prom/label/app/values', ''), { data: ['cart', 'other', 'shop'] });
  t.like(await ask('1|2', legacy, 'rate({app="cart"}[1m])'), { error: refusals[2]?.[1] });
  for (const orgId of ['', 'nobody', '1|nobody']) {
    const headers = { 'x-scope-orgid': orgId };
    const [old, now] = [
      await get(legacy, { query: '{' }, headers),
      await get(modern, { query: '{' }, headers),
    ];
    t.true(now.status >= 401);
    t.deepEqual(old, now);
  }
});

door('answers of both shapes come from the same caches and are never mixed', async (get, t) => {
  const params = { query: '{app="cart"}' };
  const regexp = { ...params, regexp: 'A$' };
  const filtered = { query: '{app="cart"}\n|~ "A$"' };
  const onlyA = { streams: [{ ...cart, entries: cart.entries.slice(1) }] };
  const now = await get(modern, params);
  t.true(
    now.text.startsWith(
      '{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"cart"',
    ),
  );
  for (let round = 0; round < 2; round += 1) {
    t.deepEqual((await get(legacy, regexp)).json, onlyA);
    t.deepEqual((await get(legacy, params)).json, { streams: [cart] });
    t.is((await get(modern, params)).text, now.text);
    t.false((await get(modern, filtered)).text.includes('plain B'));
    t.true((await get(modern, { ...params, regexp: 'A$' })).text.includes('plain B'));
  }
  const both = await Promise.all([
    get(legacy, { ...params, limit: '1' }),
    get(modern, { ...params, limit: '1' }),
  ]);
  t.deepEqual(
    both.map(({ json }) => Object.keys(json)),
    [['streams'], ['status', 'data']],
  );
});
