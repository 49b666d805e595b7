import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import type { DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { Ring } from '../../../../plugins/peer-cache/peers/members.js';
import { metric } from '../stored.js';
import { ask, auth, callsOf, filled, pathOf, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

const numbers = Array.from({ length: 14 }, (_, number) => number);

async function callsFor(replica: Replica, calls: () => number): Promise<number> {
  const before = calls();
  for (const number of numbers) await ask(replica, pathOf('a', number));
  return calls() - before;
}

/** The keys of the queries below, and the calls that each of them costs. */
async function keysOf(
  backend: DevBackend,
): Promise<{ readonly keys: readonly string[]; readonly each: number }> {
  let [keys, calls]: [readonly string[], number] = [[], 0];
  await withFleet({ backend: backend.url, replicas: 1 }, async ([only]) => {
    if (only === undefined) return;
    calls = await callsFor(only, () => callsOf(backend));
    for (const number of numbers) await ask(only, pathOf('a', number));
    const answer = await fetch(`${only.url}/_cache/hot`, { headers: auth });
    keys = ((await answer.json()) as { readonly entries: readonly Hot[] }).entries.map(({ key }) => key);
  });
  return { keys, each: calls / numbers.length };
}

test.serial(
  'who is asked: the owner, or who owned the key before, and before them who owns it in the own zone',
  async (t) => {
    const backend = await filled(t);
    const { keys, each } = await keysOf(backend);
    t.is(keys.length, numbers.length);
    let groups: unknown = [];
    const server = createServer((_, response) => response.end(JSON.stringify(groups)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const flags = {
      'peer-discovery': 'http',
      'peer-discovery-interval': '100ms',
      'peer-http-url': `http://127.0.0.1:${port}`,
      'peer-write-through': 'false',
    };
    for (const zone of ['', 'here'])
      await withFleet(
        { backend: backend.url, flags, flagsOf: () => ({ 'peer-self-az': zone }) },
        async ([self, near, far]) => {
          if (self === undefined || near === undefined || far === undefined) return t.fail();
          groups = [
            { targets: [self.address, near.address], labels: { az: 'here' } },
            { targets: [far.address], labels: { az: 'there' } },
          ];
          for (const { url } of [self, near, far])
            await until(async () => (await metric(url, 'peer_cache_peers')) === '2');
          await callsFor(near, () => callsOf(backend));
          const ring = new Ring([self.address, near.address, far.address]);
          const unseen = keys.filter((key) => {
            const [first, ...others] = ring.ownersOf(key);
            const asked = new Set([first === self.address ? others[0] : first]);
            // The first of the two members in the zone is asked. This process does not ask itself, so it asks the other one if it owns the
            // key.
            const inZone = [first, ...others].find((one) => one !== far.address);
            if (zone !== '' && (first === self.address || inZone === near.address)) asked.add(near.address);
            return !asked.has(near.address);
          });
          t.is(await callsFor(self, () => callsOf(backend)), unseen.length * each, `zone ${zone}`);
        },
      );
  },
);

test.serial('without a token, only those may ask that have the address of a member', async (t) => {
  const backend = await filled(t);
  const flags = { 'peer-insecure-ip-allowlist': 'true' };
  const get = ({ url }: Replica, headers = {}): Promise<Response> =>
    fetch(`${url}/_cache/peers`, { headers });
  await withFleet(
    { backend: backend.url, replicas: 2, hasToken: false, host: '127.0.0.1', flags },
    async ([first, second]) => {
      if (first === undefined || second === undefined) return t.fail();
      t.is((await get(first)).status, 200);
      for (const number of numbers) await ask(first, pathOf('a', number));
      const calls = callsOf(backend);
      for (const number of numbers) await ask(second, pathOf('a', number));
      t.is(callsOf(backend), calls);
    },
  );
  const elsewhere = { ...flags, 'peer-self': '10.0.0.9:3100', 'peer-static': '10.0.0.8:3100' };
  await withFleet(
    { backend: backend.url, replicas: 1, hasToken: false, flags: elsewhere },
    async ([only]) => {
      t.is(only && (await get(only)).status, 401);
    },
  );
  // With a token, the address does not matter.
  await withFleet({ backend: backend.url, replicas: 1, flags }, async ([only]) => {
    t.is(only && (await get(only)).status, 401);
    t.is(only && (await get(only, auth)).status, 200);
  });
});

test.serial(
  'the keys that are used most are told with their tenants, within the bounds of reading ahead',
  async (t) => {
    const backend = await filled(t);
    const hot = async (flags: Readonly<Record<string, string>>, query = ''): Promise<readonly Hot[]> => {
      let entries: readonly Hot[] = [];
      await withFleet({ backend: backend.url, replicas: 1, flags }, async ([only]) => {
        if (only === undefined) return t.fail();
        for (const [number, times] of [
          [0, 2],
          [1, 5],
          [2, 3],
        ] as const)
          for (let time = 0; time < times; time += 1)
            await ask(only, pathOf('a', number), { 'x-scope-orgid': '1' });
        const answer = await fetch(`${only.url}/_cache/hot${query}`, { headers: auth });
        const body = (await answer.json()) as { readonly owner: string; readonly entries: readonly Hot[] };
        t.is(body.owner, only.address);
        entries = body.entries;
      });
      return entries;
    };
    const all = await hot({});
    t.deepEqual(
      all.map(({ score }) => score),
      [4, 2, 1],
    );
    for (const { tenant, key, size_bytes, remaining_ttl_ms } of all) {
      t.is(tenant, '1');
      t.true(key.startsWith('1:'));
      t.true(size_bytes > 0 && remaining_ttl_ms > 30_000);
    }
    t.is((await hot({}, '?limit=2')).length, 2);
    t.is((await hot({ 'peer-hot-read-ahead-top-n': '1' })).length, 1);
    t.is((await hot({ 'peer-hot-read-ahead-min-ttl': '200h' })).length, 0);
    t.is((await hot({ 'peer-hot-read-ahead-max-object-bytes': '10' })).length, 0);
  },
);

interface Hot {
  readonly key: string;
  readonly tenant: string;
  readonly score: number;
  readonly size_bytes: number;
  readonly remaining_ttl_ms: number;
}
