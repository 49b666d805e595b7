import test from 'ava';
import { all, TailClient, withTails } from './fixtures.js';

const refusals: readonly (readonly [
  what: string,
  params: Record<string, string>,
  status: number,
  text: string,
])[] = [
  ['a broken query', { query: '{app="a"' }, 400, 'unexpected $end, expecting } or ,'],
  ['no query', {}, 400, 'syntax error: unexpected $end'],
  ['a limit of none', { ...all, limit: '0' }, 400, 'limit must be a positive value'],
  ['a limit that is no number', { ...all, limit: 'x' }, 400, 'strconv.Atoi: parsing \\"x\\": invalid syntax'],
  ['a delay above five', { ...all, delay_for: '6' }, 400, "delay_for can't be greater than 5"],
  [
    'a delay below none',
    { ...all, delay_for: '-1' },
    400,
    'delay_for value -1 is out of range [0, 4294967295]',
  ],
  ['a start that is no time', { ...all, start: 'x' }, 400, "could not parse 'start' parameter"],
];

for (const [what, params, status, expected] of refusals) {
  test(`${what} is refused before the upgrade`, async (t) => {
    await withTails({}, async ({ url, log }) => {
      const refused = await new TailClient(url, params).refused();
      t.is(refused.status, status);
      t.true(refused.body.includes(expected), refused.body);
      const record = await log.find((line) => line.get('ref.request.type') === 'tail');
      t.is(record.get('http.response.status_code'), status);
    });
  });
}

test('a limit is read before a delay, as Loki does', async (t) => {
  await withTails({}, async ({ url }) => {
    const { body } = await new TailClient(url, { ...all, delay_for: '9', limit: 'abc' }).refused();
    t.true(body.includes('strconv.Atoi'));
  });
});

test('a tail needs a tenant where requests do, and takes only one', async (t) => {
  await withTails(
    {},
    async ({ url }) => {
      t.is((await new TailClient(url, all).refused()).status, 401);
      const several = await new TailClient(url, all, { 'X-Scope-OrgID': '1|2' }).refused();
      t.is(several.status, 400);
      t.true(several.body.includes('multiple org IDs present'));
    },
    { tenancy: { requireTenantHeader: true } },
  );
});

test('a browser is let in from the origins that are allowed only', async (t) => {
  await withTails({ allowedOrigins: ['https://grafana.example.com'] }, async ({ url }) => {
    const refused = await new TailClient(url, all, { Origin: 'https://elsewhere.example.com' }).refused();
    t.is(refused.status, 403);
    t.true(refused.body.includes('tail origin not allowed'));
    const client = await new TailClient(url, all, { Origin: 'https://Grafana.example.com' }).opened();
    client.socket.terminate();
  });
});

test('no more tails are opened than allowed, and one that ends makes room', async (t) => {
  await withTails({ maxOpen: 1 }, async ({ url, log }) => {
    const first = await new TailClient(url, all).opened();
    t.is((await new TailClient(url, all).refused()).status, 429);
    first.socket.close();
    await log.find((record) => record.get('body') === 'tail ended');
    const second = await new TailClient(url, all).opened();
    second.socket.terminate();
  });
});

test('a backend that cannot be reached refuses the handshake', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    await backend.close();
    t.is((await new TailClient(url, all).refused()).status, 502);
  });
});

test('a request that asks for no WebSocket is a bad request', async (t) => {
  await withTails({}, async ({ url }) => {
    const response = await fetch(`${url}/loki/api/v1/tail?query=${encodeURIComponent(all.query)}`);
    t.is(response.status, 400);
    t.is(response.headers.get('sec-websocket-version'), '13');
    t.is(await response.text(), 'Bad Request\n');
  });
});

test('every spelling of the path opens a tail', async (t) => {
  await withTails({}, async ({ url }) => {
    for (const path of ['/ref/api/v1/tail', '/api/prom/tail', '/api/pm/tail']) {
      const client = await new TailClient(url, { ...all, path }).opened();
      client.socket.terminate();
    }
    t.is((await new TailClient(url, { ...all, path: '/loki/api/v1/tails' }).refused()).status, 404);
  });
});
