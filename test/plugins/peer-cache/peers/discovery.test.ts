import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { withProxy } from '../../../../core/testing/index.js';
import { membersIn } from '../../../../plugins/peer-cache/peers/discovery.js';
import { metric, pipeline } from '../stored.js';
import { dnsServer, type Zone } from './dns-server.js';
import { apps, ask, auth, callsOf, filled, pathOf, token, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

const often = { 'peer-discovery-interval': '100ms' };

async function peersOf({ url }: Pick<Replica, 'url'>): Promise<readonly string[]> {
  const answer = await fetch(`${url}/_cache/peers`, { headers: auth });
  return ((await answer.json()) as { readonly peers: readonly string[] }).peers;
}

/** Every replica must know all others, and they must find the answers of the first one. */
async function shareAnswers(
  t: ExecutionContext,
  replicas: readonly Replica[],
  calls: () => number,
): Promise<void> {
  for (const replica of replicas)
    await until(async () => (await peersOf(replica)).length === replicas.length - 1);
  const [first, ...others] = replicas;
  if (first === undefined) return t.fail();
  for (const app of apps) await ask(first, pathOf(app));
  const before = calls();
  await until(async () => (await metric(first.url, 'peer_cache_write_through_waiting_bytes')) === '0');
  for (const other of others)
    for (const app of apps) t.regex(await ask(other, pathOf(app)), new RegExp(`0 ${app} 4`));
  t.is(calls(), before);
}

const emptyZone = (): Zone => ({ a: new Map(), srv: new Map() });

test.serial('members are found as SRV records, again and again', async (t) => {
  const backend = await filled(t);
  const zone = emptyZone();
  const flags = {
    ...often,
    'peer-discovery': 'srv',
    'peer-srv': '_http._tcp.fleet.test',
    'peer-dns-servers': await dnsServer(t, zone),
  };
  await withFleet({ backend: backend.url, flags }, async (replicas) => {
    const records = replicas.map(({ address }) => ({
      host: address.split(':')[0] ?? '',
      port: Number(address.split(':')[1]),
    }));
    const [first, second] = replicas;
    if (first === undefined || second === undefined) return t.fail();
    t.deepEqual(await peersOf(first), []);
    zone.srv.set('_http._tcp.fleet.test', records);
    await shareAnswers(t, replicas, () => callsOf(backend));
    // Removed members disappear, and return later.
    zone.srv.set('_http._tcp.fleet.test', records.slice(0, 2));
    await until(async () => (await peersOf(first)).length === 1);
    t.deepEqual(await peersOf(first), [second.address]);
    t.is(await metric(first.url, 'peer_cache_cluster_members'), '2');
    // If no member is found, the last ones stay.
    const errors = Number(await metric(first.url, 'peer_cache_discovery_errors_total'));
    zone.srv.clear();
    await until(
      async () => Number(await metric(first.url, 'peer_cache_discovery_errors_total')) > errors + 1,
    );
    t.deepEqual(await peersOf(first), [second.address]);
  });
});

test.serial('members are found as addresses of a name, all on port 3100', async (t) => {
  const backend = await filled(t);
  const zone = emptyZone();
  zone.a.set('fleet.test', ['10.9.8.7', '10.9.8.6']);
  const flags = {
    ...often,
    'peer-discovery': 'dns',
    'peer-dns': 'fleet.test',
    'peer-dns-servers': await dnsServer(t, zone),
  };
  await withFleet({ backend: backend.url, replicas: 1, flags }, async ([replica]) => {
    if (replica === undefined) return t.fail();
    t.deepEqual(await peersOf(replica), ['10.9.8.6:3100', '10.9.8.7:3100']);
    zone.a.set('fleet.test', ['10.9.8.7']);
    await until(async () => (await peersOf(replica)).length === 1);
    t.deepEqual(await peersOf(replica), ['10.9.8.7:3100']);
  });
});

test.serial('without servers of its own the name is resolved as the system does', async (t) => {
  const backend = await filled(t);
  const flags = { 'peer-discovery': 'dns', 'peer-dns': 'localhost' };
  await withFleet({ backend: backend.url, replicas: 1, flags }, async ([replica]) => {
    if (replica === undefined) return t.fail();
    t.deepEqual(await peersOf(replica), ['127.0.0.1:3100']);
    const told = replica.log.records.find((record) =>
      String(record.get('body')).includes('not among the discovered members'),
    );
    t.truthy(told);
  });
});

test.serial(
  'members are found at a URL, in any of four shapes; what is odd leaves the last ones',
  async (t) => {
    const backend = await filled(t);
    let document: unknown = [];
    let status = 200;
    const server = createServer((_, response) => {
      response.statusCode = status;
      response.end(typeof document === 'string' ? document : JSON.stringify(document));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const flags = { ...often, 'peer-discovery': 'http', 'peer-http-url': `http://127.0.0.1:${port}/members` };
    await withFleet({ backend: backend.url, flags }, async (replicas) => {
      const addresses = replicas.map(({ address }) => address);
      const [first] = replicas;
      if (first === undefined) return t.fail();
      document = addresses;
      await shareAnswers(t, replicas, () => callsOf(backend));
      const others = addresses.slice(1).sort();
      for (const shape of [
        { peers: addresses },
        [{ targets: addresses.slice(0, 2), labels: { az: 'a' } }, { targets: addresses.slice(2) }],
        addresses.map((text) => ({
          ServiceAddress: text.split(':')[0],
          ServicePort: Number(text.split(':')[1]),
        })),
      ]) {
        document = addresses.slice(0, 1);
        await until(async () => (await peersOf(first)).length === 0);
        document = shape;
        await until(async () => (await peersOf(first)).length > 0);
        t.deepEqual(await peersOf(first), others);
      }
      for (const odd of [
        'no JSON',
        {},
        [],
        [{}],
        ['no address'],
        { peers: 'a:1' },
        [{ targets: [1] }],
        'x'.repeat(2_000_000),
      ]) {
        const errors = Number(await metric(first.url, 'peer_cache_discovery_errors_total'));
        document = odd;
        await until(
          async () => Number(await metric(first.url, 'peer_cache_discovery_errors_total')) > errors + 1,
        );
        t.deepEqual(await peersOf(first), others);
      }
      document = addresses.slice(0, 1);
      status = 500;
      const errors = Number(await metric(first.url, 'peer_cache_discovery_errors_total'));
      await until(
        async () => Number(await metric(first.url, 'peer_cache_discovery_errors_total')) > errors + 1,
      );
      t.deepEqual(await peersOf(first), others);
      t.is(
        first.log.records.filter((record) => String(record.get('body')).includes('peer discovery failed'))
          .length,
        2,
      );
    });
  },
);

test.serial('zones and addresses are read from all shapes', (t) => {
  const shown = (document: unknown): unknown =>
    membersIn(document)?.map(({ address, zone }) =>
      zone === undefined ? address.text : `${address.text} in ${zone}`,
    );
  t.deepEqual(
    shown([
      { targets: ['a:1', 'b:2'], labels: { az: 'x' } },
      { targets: ['c:3'], labels: { availability_zone: 'y' } },
    ]),
    ['a:1 in x', 'b:2 in x', 'c:3 in y'],
  );
  t.deepEqual(
    shown([
      { ServiceAddress: '', Address: '10.0.0.1', ServicePort: 1 },
      { ServiceAddress: '::1', ServicePort: 2 },
    ]),
    ['10.0.0.1:1', '[::1]:2'],
  );
  t.deepEqual(shown({ peers: ['a:1', '[::1]:3'] }), ['a:1', '[::1]:3']);
  for (const odd of [
    null,
    1,
    'a:1',
    [['a:1']],
    [{ ServiceAddress: 'a' }],
    ['a:0'],
    ['a:65536'],
    ['a b:1'],
    ['[a]:1'],
    ['unix:a'],
    ['unix:/run/a.sock'],
    { peers: ['a:1', 'unix:/run/a.sock'] },
    [{ targets: ['unix:/run/a.sock'] }],
  ])
    t.is(shown(odd), undefined, JSON.stringify(odd));
});

test.serial('a fleet that cannot be read from its options keeps the proxy from starting', async (t) => {
  const backend = await filled(t);
  const self = { 'peer-self': '127.0.0.1:1', 'peer-auth-token': token };
  for (const [flags, message] of [
    [{ ...self, 'peer-discovery': 'static', 'peer-static': 'a:b' }, /-peer-static: a:b is not an address/],
    [
      { ...self, 'peer-self': 'nowhere', 'peer-discovery': 'static' },
      /-peer-self: nowhere is not an address/,
    ],
    [{ ...self, 'peer-discovery': 'dns' }, /-peer-discovery=dns needs -peer-dns/],
    [{ ...self, 'peer-discovery': 'srv' }, /-peer-discovery=srv needs -peer-srv/],
    [{ ...self, 'peer-discovery': 'http' }, /-peer-discovery=http needs -peer-http-url/],
    [
      { ...self, 'peer-discovery': 'dns', 'peer-dns': 'a.test', 'peer-dns-servers': 'b.test' },
      /-peer-dns-servers: b.test are not/,
    ],
    [
      { 'peer-self': '127.0.0.1:1', 'peer-discovery': 'static', 'peer-static': 'a:1,b:2' },
      /peer cache is configured \(discovery=static, peers=a:1,b:2\) but --peer-auth-token is empty/,
    ],
  ] as const)
    await t.throwsAsync(
      withProxy(pipeline(backend.url), () => Promise.resolve(), { flags }),
      { message },
    );
});
