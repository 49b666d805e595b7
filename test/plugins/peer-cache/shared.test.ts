import test from 'ava';
import fc from 'fast-check';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { deepRuns } from '../../setup/runs.js';
import { FakeStore } from './fake-store.js';
import { count, pathOf, startTelltale } from './sharing.js';
import { until } from '../../setup/until.js';
import { pipeline, stored } from './stored.js';

const calls = '/select/logsql/query';
/** Number of requests of proxies whose store is lost, and of many tenants. */
const loaded = deepRuns(50, 100);
const mixed = deepRuns(200, 1_000);

/** The whole log as text. */
function said({ log }: Pick<ProxyUnderTest, 'log'>): string {
  return JSON.stringify(log.records.map((record) => [...record]));
}

/** Repeats the request until the store has an answer: under load, the store may have been late for the first one. */
async function keep(ask: () => Promise<unknown>, { url, proxy }: ProxyUnderTest): Promise<void> {
  const drops = (): Promise<number> => count(url, 'shared_cache_drops_total{reason="off"}');
  for (;;) {
    const before = await drops();
    await ask();
    await until(async () => (await count(url, 'shared_cache_sets_total')) > 0 || (await drops()) > before);
    if ((await count(url, 'shared_cache_sets_total')) > 0) return;
    await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
  }
}

async function withTwo(
  backend: string,
  flags: Readonly<Record<string, string>>,
  use: (one: ProxyUnderTest, other: ProxyUnderTest) => Promise<void>,
  othersFlags: Readonly<Record<string, string>> = flags,
): Promise<void> {
  const usual = { 'server.register-instrumentation': 'true' };
  await withProxy(
    pipeline(backend),
    (one) =>
      withProxy(pipeline(backend), (other) => use(one, other), { flags: { ...usual, ...othersFlags } }),
    { flags: { ...usual, ...flags } },
  );
}

test('what one proxy has asked the other has from the shared store', async (t) => {
  const { backend, ask } = await stored(t);
  // On a busy machine, the other proxy may not wait long enough.
  await until(async () => {
    let isFound = false;
    const store = await FakeStore.start(t);
    await withTwo(backend.url, { 'shared-cache-url': store.url }, async (one, other) => {
      await keep(() => ask(one.url), one);
      const first = await ask(one.url);
      t.regex(first, /"one"/);
      const asked = backend.stats().calls[calls];
      t.is(await ask(other.url), first);
      isFound = (await count(other.url, 'shared_cache_hits_total')) === 1;
      if (!isFound) return;
      t.is(backend.stats().calls[calls], asked);
      for (const [name, value] of [
        ['up', 1],
        ['misses_total', 0],
        ['age_seconds_count', 1],
        ['lookup_seconds_count', 1],
        ['waiting_bytes', 0],
      ] as const)
        t.is(await count(other.url, `shared_cache_${name}`), value, name);
      t.is(await ask(other.url), first);
      t.is(await count(other.url, 'memory_cache_hits_total'), 1, 'from memory then');
    });
    return isFound;
  });
});

test('proxies with another prefix or another secret share nothing', async (t) => {
  const { backend, ask } = await stored(t);
  for (const name of ['shared-cache-prefix', 'shared-cache-secret']) {
    const store = await FakeStore.start(t);
    const url = { 'shared-cache-url': store.url };
    await withTwo(
      backend.url,
      { ...url, [name]: 'one:' },
      async (one, other) => {
        await keep(() => ask(one.url), one);
        const asked = backend.stats().calls[calls] ?? 0;
        await ask(other.url);
        t.is(backend.stats().calls[calls], asked + 1);
        t.is(await count(other.url, 'shared_cache_hits_total'), 0);
      },
      { ...url, [name]: 'other:' },
    );
    if (name.endsWith('prefix')) t.true([...store.held.keys()].some((key) => key.startsWith('other:')));
  }
});

test('a flush at one proxy empties the store for all, and the memory of the others within a second', async (t) => {
  const store = await FakeStore.start(t);
  const { backend, ask } = await stored(t);
  await withTwo(backend.url, { 'shared-cache-url': store.url }, async (one, other) => {
    const flush = (query = ''): Promise<unknown> =>
      fetch(`${one.proxy.urls.admin ?? ''}/admin/cache/flush${query}`, { method: 'POST' });
    for (const query of ['', '?tenant=1']) {
      await keep(() => ask(one.url, '1'), one);
      await ask(other.url, '1');
      const asked = backend.stats().calls[calls] ?? 0;
      await flush('?tenant=2');
      await ask(other.url, '1');
      t.is(backend.stats().calls[calls], asked, 'of another tenant');
      await flush(query);
      await until(async () => {
        await ask(other.url, '1');
        return (backend.stats().calls[calls] ?? 0) > asked;
      });
    }
    t.true((await count(other.url, 'shared_cache_purges_total{by="another"}')) >= 2);
    t.true((await count(one.url, 'shared_cache_purges_total{by="this"}')) >= 2);
  });
});

test('a store that is lost in the middle of a load costs no answer, and is used again when it is back', async (t) => {
  const store = await FakeStore.start(t);
  const { url: backend } = await startTelltale(t);
  await withTwo(backend, { 'shared-cache-url': store.url, 'cache-max': '1' }, async (one, other) => {
    let failed = 0;
    const load = async (proxy: ProxyUnderTest, from: number): Promise<void> => {
      for (let number = from; number < from + loaded; number += 1) {
        const answer = await fetch(`${proxy.url}${pathOf(`x${number % 10}`)}`);
        if (answer.status !== 200 || !(await answer.text()).includes(`app=x${number % 10}`)) failed += 1;
        if (proxy === one && number === Math.floor(loaded * 0.3)) await store.stop();
        if (proxy === one && number === Math.floor(loaded * 0.7)) await store.listen();
      }
    };
    await Promise.all([load(one, 0), load(other, 5)]);
    t.is(failed, 0);
    await until(async () => (await count(one.url, 'shared_cache_up')) === 1);
    t.is(said(one).split('shared cache failed and is turned off').length, 2, 'once');
    t.is(said(one).split('shared cache works again').length, 2, 'once');
  });
});

test('the password and the secret of the shared store are shown nowhere', async (t) => {
  const store = await FakeStore.start(t);
  store.password = 'another one';
  const { backend, ask } = await stored(t);
  const flags = {
    'shared-cache-url': store.url.replace('//', '//:pass-of-store@'),
    'shared-cache-secret': 'secret-of-store',
    'server.register-instrumentation': 'true',
  };
  await withProxy(
    pipeline(backend.url),
    async ({ url, proxy, log }) => {
      await ask(url);
      t.is(await count(url, 'shared_cache_up'), 0);
      t.true((await count(url, 'shared_cache_errors_total{reason="auth"}')) > 0);
      const admin = proxy.urls.admin ?? '';
      const shown = [said({ log })];
      for (const path of [
        '/config',
        '/metrics',
        '/admin/pipeline',
        '/admin/explain?query=%7Bapp%3D%22a%22%7D&format=json',
      ])
        for (const base of [url, admin]) shown.push(await (await fetch(base + path)).text());
      t.regex(shown.join(), /shared cache failed/);
      t.notRegex(shown.join(), /pass-of-store|secret-of-store/);
    },
    { flags },
  );
  const error = await t.throwsAsync(
    withProxy(pipeline(backend.url), () => Promise.resolve(), {
      flags: { 'shared-cache-url': 'http://:pass-of-store@somewhere' },
    }),
  );
  t.notRegex(String(error), /pass-of-store/);
  t.regex(String(error), /redis:\/\//);
});

test('over two proxies and their shared store no tenant and no credentials get the answer of others', async (t) => {
  const store = await FakeStore.start(t);
  const backend = await startTelltale(t);
  // Almost no memory cache, so that requests reach the store.
  const flags = {
    'shared-cache-url': store.url,
    'cache-max': '2',
    'forward-authorization': 'true',
  };
  await withTwo(backend.url, flags, async (one, other) => {
    const asks = fc.sample(
      fc.record({
        proxy: fc.constantFrom(one, other),
        tenant: fc.constantFrom('1', '2', '3'),
        credentials: fc.constantFrom('Bearer a', 'Bearer b', undefined),
        app: fc.constantFrom('x1', 'x2', 'x3', 'x4'),
      }),
      { numRuns: mixed, seed: 16 },
    );
    let leaks = 0;
    let answered = 0;
    const next = async (): Promise<void> => {
      for (let ask = asks.pop(); ask !== undefined; ask = asks.pop()) {
        const { proxy, tenant, credentials, app } = ask;
        const headers = {
          'x-scope-orgid': tenant,
          ...(credentials === undefined ? {} : { authorization: credentials }),
        };
        const answer = await fetch(proxy.url + pathOf(app), { headers });
        const said = /account=\d+ credentials=(?:Bearer \w|undefined) app=\w+/.exec(await answer.text())?.[0];
        answered += said === undefined ? 0 : 1;
        if (said !== `account=${tenant} credentials=${String(credentials)} app=${app}`) leaks += 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, next));
    t.deepEqual([answered, leaks], [mixed, 0]);
    const hits =
      (await count(one.url, 'shared_cache_hits_total')) + (await count(other.url, 'shared_cache_hits_total'));
    t.log(`${hits} answers came from the store, ${backend.calls()} from the backend`);
    t.true(hits > mixed * 0.3);
  });
});
