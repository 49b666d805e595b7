import test from 'ava';
import { metric } from '../stored.js';
import { apps, ask, callsOf, filled, pathOf, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

async function fillAll(replicas: readonly Replica[], headers = {}): Promise<void> {
  for (const replica of replicas) for (const app of apps) await ask(replica, pathOf(app), headers);
  for (const { url } of replicas)
    await until(async () => (await metric(url, 'peer_cache_write_through_waiting_bytes')) === '0');
}

test.serial('a flush with peers empties all replicas and reports each of them', async (t) => {
  const backend = await filled(t);
  // No process listens there.
  await withFleet({ backend: backend.url, others: ['127.0.0.1:9'] }, async (replicas) => {
    const [first, ...others] = replicas;
    if (first === undefined) return t.fail();
    await fillAll(replicas);
    const flushed = await fetch(`${first.proxy.urls.admin ?? ''}/admin/cache/flush?peers=1`, {
      method: 'POST',
    });
    const report = (await flushed.json()) as { readonly peers: Readonly<Record<string, string>> };
    const { ['127.0.0.1:9']: gone, ...reached } = report.peers;
    t.regex(gone ?? '', /^error: .*ECONNREFUSED/);
    t.deepEqual(reached, Object.fromEntries(others.map(({ address }) => [address, 'purged'])));
    const calls = callsOf(backend);
    await ask(others[0] ?? first, pathOf('a'));
    t.true(callsOf(backend) > calls);
  });
});

test.serial(
  'a flush without peers leaves the others as they are, one of a tenant what others have of other tenants',
  async (t) => {
    const backend = await filled(t);
    await withFleet({ backend: backend.url, replicas: 2 }, async (replicas) => {
      const [first, second] = replicas;
      if (first === undefined || second === undefined) return t.fail();
      for (const tenant of ['1', '2']) await fillAll(replicas, { 'x-scope-orgid': tenant });
      const flush = (query: string): Promise<Response> =>
        fetch(`${first.proxy.urls.admin ?? ''}/admin/cache/flush${query}`, { method: 'POST' });
      const callsFor = async (replica: Replica, tenant: string): Promise<number> => {
        const calls = callsOf(backend);
        for (const app of apps) await ask(replica, pathOf(app), { 'x-scope-orgid': tenant });
        return callsOf(backend) - calls;
      };
      t.is((await flush('')).status, 200);
      t.is(await callsFor(second, '1'), 0);
      t.is((await flush('?tenant=1&peers')).status, 200);
      t.is(await callsFor(second, '2'), 0);
      t.true((await callsFor(second, '1')) > 0);
    });
  },
);

test.serial('lines that are deleted through one replica come back from none', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, endpoints: '  - use: delete' }, async (replicas) => {
    const [first] = replicas;
    if (first === undefined) return t.fail();
    await fillAll(replicas);
    const from = new URLSearchParams(pathOf('a').split('?')[1]);
    const form = { query: '{app="a"}', start: from.get('start') ?? '', end: from.get('end') ?? '' };
    const deleted = await fetch(`${first.url}/loki/api/v1/delete`, {
      method: 'POST',
      headers: { 'x-delete-confirmation': 'true' },
      body: new URLSearchParams(form),
    });
    t.is(deleted.status, 204);
    for (const replica of replicas) {
      await until(async () => (await ask(replica, `${pathOf('a')}&limit=7`)) === '[]');
      t.is(await ask(replica, pathOf('a')), '[]');
      t.regex(await ask(replica, pathOf('b')), /b 4/);
    }
  });
});
