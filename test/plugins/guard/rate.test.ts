/** The rate limit from the client's point of view. */
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { makeTenant, withProxyFile, type LogRecord } from '../../../core/testing/index.js';
import { Rate, SharedAddresses } from '../../../plugins/guard/index.js';

interface Door {
  /** The statuses of `times` equal requests, one after another. */
  readonly ask: (orgId: string, times: number) => Promise<readonly number[]>;
  readonly refusedBy: () => Promise<Readonly<Record<string, number>>>;
  readonly warnings: () => readonly LogRecord[];
}

/** With these rates, no token is refilled while a test runs. */
async function withRate(
  flags: Readonly<Record<string, string>>,
  use: (door: Door) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend();
  const file = 'pipelines/reference-compatible.yaml';
  const settings = { 'rate-limit-per-second': '0.001', 'server.register-instrumentation': 'true' };
  const given = { flags: { ...settings, 'metrics-listen': '127.0.0.1:0', backend: backend.url, ...flags } };
  try {
    await withProxyFile(
      file,
      ({ url, proxy, log }) =>
        use({
          ask: async (orgId, times) => {
            const statuses: number[] = [];
            for (let time = 0; time < times; time += 1) {
              const headers: Record<string, string> = orgId === '' ? {} : { 'X-Scope-OrgID': orgId };
              const response = await fetch(`${url}/loki/api/v1/labels?start=1&end=2`, { headers });
              await response.arrayBuffer();
              statuses.push(response.status);
            }
            return statuses;
          },
          refusedBy: async () => {
            const text = await (await fetch(`${proxy.urls.metrics ?? ''}/metrics`)).text();
            const series = text.matchAll(/guard_rate_refused_total\{[^}]*by="(\w+)"[^}]*\} (\d+)/g);
            return Object.fromEntries([...series].map(([, by = '', count]) => [by, Number(count)]));
          },
          warnings: () =>
            log.records.filter((record) => /^most rate-limited requests/.test(String(record.get('body')))),
        }),
      given,
    );
  } finally {
    await backend.close();
  }
}

for (const off of ['rate-limit-burst', 'rate-limit-per-second'])
  test(`-${off}=0 turns the rate limit off`, async (t) => {
    await withRate({ 'rate-limit-burst': '1', [off]: '0' }, async ({ ask }) => {
      t.deepEqual([...new Set(await ask('1', 5))], [200]);
    });
  });

test('by tenant, who asks too fast is refused, and nobody else at the same address', async (t) => {
  await withRate(
    { 'rate-limit-burst': '3', 'rate-limit-by': 'tenant' },
    async ({ ask, refusedBy, warnings }) => {
      t.deepEqual(await ask('1', 30), [200, 200, 200, ...Array<number>(27).fill(429)]);
      t.deepEqual(await ask('2', 1), [200]);
      t.deepEqual(await ask('', 4), [200, 200, 200, 429]);
      t.deepEqual(await refusedBy(), { tenant: 28 });
      t.deepEqual(warnings(), []);
    },
  );
});

test('by tenant, a request over several takes a token of each, and none may lack one', async (t) => {
  await withRate({ 'rate-limit-burst': '3', 'rate-limit-by': 'tenant' }, async ({ ask }) => {
    t.deepEqual(await ask('1|2', 2), [200, 200]);
    t.deepEqual(await ask('1', 2), [200, 429]);
    t.deepEqual(await ask('2', 1), [200]);
    t.deepEqual(await ask('1|3', 1), [429]);
  });
});

test('an address that several tenants share, and that gets most refusals, is told once with what helps', async (t) => {
  await withRate({ 'rate-limit-burst': '2' }, async ({ ask, refusedBy, warnings }) => {
    t.deepEqual(await ask('1', 2), [200, 200]);
    t.deepEqual([...new Set(await ask('1', 25))], [429]);
    t.deepEqual(warnings(), []);
    t.deepEqual([...new Set(await ask('2', 25))], [429]);
    t.deepEqual(await refusedBy(), { address: 25, shared_address: 25 });
    t.is(warnings().length, 1);
    t.is(warnings()[0]?.get('severity.text'), 'WARN');
    t.is(warnings()[0]?.get('client.address'), '127.0.0.1');
    t.regex(String(warnings()[0]?.get('body')), /-rate-limit-by=tenant/);
  });
});

test('what is known of addresses is bounded, and begins anew', (t) => {
  let nowMs = 0;
  const shared = new SharedAddresses(() => nowMs);
  for (let address = 0; address < 1_000; address += 1) shared.refused(String(address), 'a');
  shared.refused('one more', 'a');
  t.deepEqual(shared.refused('one more', 'b'), { isShared: false, isWorthTelling: false });
  t.true(shared.refused('999', 'b').isShared);
  nowMs += 60_000;
  t.false(shared.refused('999', 'b').isShared);
  t.true(shared.refused('999', 'a').isShared);
});

test('an address with fewer refusals than all others together is not told', (t) => {
  const shared = new SharedAddresses(() => 0);
  const told = (address: string, times: number): boolean =>
    Array.from({ length: times }, (_, at) => shared.refused(address, `tenant ${at % 2}`)).some(
      ({ isWorthTelling }) => isWorthTelling,
    );
  for (let at = 0; at < 60; at += 1) shared.refused(`single ${at}`, 'a');
  t.false(told('fewer', 40));
  t.true(told('most', 120));
});

test('tokens that have to be asked for count like those at hand', async (t) => {
  const refused: string[] = [];
  const free = new Map([['a', 2]]);
  const keys: string[] = [];
  const rate = new Rate({
    options: { rateLimitPerSecond: 1, rateLimitBurst: 1, rateLimitBy: 'tenant' },
    pluginId: 'guard',
    workers: {
      tokens: () => ({
        take: (key) => {
          if (!keys.includes(key)) keys.push(key);
          const name = keys.indexOf(key) === 0 ? 'a' : 'b';
          const left = free.get(name) ?? 0;
          free.set(name, left - 1);
          return name === 'a' ? Promise.resolve(left > 0) : left > 0;
        },
        takeNow: () => false,
        release: () => undefined,
      }),
    },
    nowMs: () => 0,
    onRefused: (by) => refused.push(by),
    onShared: () => t.fail(),
  });
  const address = '::1';
  t.true(await rate.take({ address, tenant: makeTenant('a') }));
  t.false(await rate.take({ address, tenant: makeTenant('b', { limitIds: ['a', 'b'] }) }));
  t.deepEqual(refused, ['tenant']);
  t.is(keys.length, 2);
});
