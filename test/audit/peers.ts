import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { dnsServer } from '../plugins/peer-cache/peers/dns-server.js';
import { hourMs, until } from './lab.js';
import { ask, type Site } from './site.js';
import { expect, same, type Claim, type Section } from './section.js';

import { auth, call, filled, fleet, one, question, ring, token } from './fleet.js';

function shapeClaim(what: string, shapeOf: (addresses: readonly string[]) => unknown): Claim {
  return {
    lines: '312, 315',
    says: `peers are found at \`-peer-http-url\` as ${what}, and again at every interval`,
    probe: async (lab) => {
      let document: unknown = ['10.1.1.1:3100'];
      const server = createServer((_, response) => response.end(JSON.stringify(document)));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      lab.later(() => {
        server.close();
        server.closeAllConnections();
      });
      const { port } = server.address() as AddressInfo;
      const site = await one(lab, { 'peer-discovery': 'http', 'peer-http-url': `http://127.0.0.1:${port}` });
      await until('the first list', async () => (await ring(site)).peers.includes('10.1.1.1:3100'));
      document = shapeOf(['10.1.1.2:3100', '10.1.1.3:3100']);
      await until(
        'the second list',
        async () => (await ring(site)).peers.join() === '10.1.1.2:3100,10.1.1.3:3100',
      );
    },
  };
}

const routes: readonly (readonly [method: 'GET' | 'POST', path: string])[] = [
  ['GET', '/_cache/get?key=a'],
  ['POST', '/_cache/set?key=a&ttl_ms=20000'],
  ['GET', '/_cache/has?keys=a'],
  ['GET', '/_cache/hot?limit=2'],
  ['GET', '/_cache/peers'],
  ['POST', '/_cache/purge'],
];

export const peers: Section = {
  title: 'Peers',
  claims: [
    ...routes.map(([method, path], at): Claim => ({
      lines: `${297 + at}, 332, 419`,
      says: `\`${method} ${path.replace(/\?.*/, '')}\` is 401 without the token, or with a wrong one`,
      probe: async (lab) => {
        const site = await one(lab);
        for (const headers of [{}, { 'x-peer-token': 'wrong' }])
          same((await ask(site.url + path, { method, headers })).status, 401, JSON.stringify(headers));
        expect(
          (await call(site, path, method, method === 'POST' ? 'v' : undefined)).status !== 401,
          'with the token',
        );
      },
    })),
    {
      lines: '207, 297-298, 550',
      says: 'what is set with `key` and `ttl_ms` is got, with the time that is left; under 5 seconds it is not there',
      probe: async (lab) => {
        const site = await one(lab);
        same((await call(site, '/_cache/get?key=a')).status, 404, 'before');
        await call(site, '/_cache/set?key=a&ttl_ms=20000', 'POST', 'value');
        await call(site, '/_cache/set?key=b&ttl_ms=4000', 'POST', 'value');
        const got = await call(site, '/_cache/get?key=a');
        same(got.text, 'value', 'the value');
        const left = Number(got.headers['x-cache-ttl-ms']);
        expect(left > 5_000 && left <= 20_000, `${left} ms are left`);
        same((await call(site, '/_cache/get?key=b')).status, 404, 'with four seconds');
      },
    },
    {
      lines: '297, 245',
      says: 'values of 1 KB and more are compressed with gzip for those who take it, smaller ones are not',
      probe: async (lab) => {
        const site = await one(lab);
        await call(site, '/_cache/set?key=big&ttl_ms=20000', 'POST', 'x'.repeat(5_000));
        await call(site, '/_cache/set?key=small&ttl_ms=20000', 'POST', 'x');
        const headers = { ...auth, 'accept-encoding': 'gzip' };
        const big = await request(`${site.url}/_cache/get?key=big`, { headers });
        const bytes = Buffer.from(await big.body.arrayBuffer());
        same([big.headers['content-encoding'], gunzipSync(bytes).length], ['gzip', 5_000], 'a large value');
        same(
          (await ask(`${site.url}/_cache/get?key=small`, { headers })).headers['content-encoding'] ??
            'identity',
          'identity',
          'a small one',
        );
      },
    },
    {
      lines: '297, 245',
      says: 'zstd is preferred to gzip',
      differs: 'Peers compress with zstd from Node 22.15 on',
      probe: async (lab) => {
        const site = await one(lab);
        await call(site, '/_cache/set?key=big&ttl_ms=20000', 'POST', 'x'.repeat(5_000));
        const headers = { ...auth, 'accept-encoding': 'gzip, zstd' };
        const { headers: got } = await ask(`${site.url}/_cache/get?key=big`, { headers });
        same(got['content-encoding'], hasZstd() ? 'zstd' : 'gzip', 'the encoding');
      },
    },
    {
      lines: '150, 299, 550',
      says: '`/_cache/has` says of up to 200 keys whether they are there, and how long still',
      probe: async (lab) => {
        const site = await one(lab);
        await call(site, '/_cache/set?key=a&ttl_ms=20000', 'POST', 'value');
        const has = JSON.parse((await call(site, '/_cache/has?keys=a,b')).text) as Record<
          string,
          { ok: boolean; ttl_ms?: number }
        >;
        same([has['a']?.ok, has['b']], [true, { ok: false }], 'the answer');
        expect((has['a']?.ttl_ms ?? 0) > 5_000, 'no time is told');
        const many = Array.from({ length: 201 }, (_, at) => `k${at}`).join(',');
        same((await call(site, `/_cache/has?keys=${many}`)).status, 400, 'the status for 201 keys');
      },
    },
    {
      lines: '300',
      says: '`/_cache/hot` lists as many hot keys as `limit` says, each with score, size and time left',
      probe: async (lab) => {
        await filled(lab);
        const site = await one(lab, { 'compat-cache-enabled': 'false' });
        for (let round = 0; round < 3; round += 1)
          for (let at = 0; at < 3; at += 1) await site.json('query', question(lab, at));
        const { entries } = JSON.parse((await call(site, '/_cache/hot?limit=2')).text) as {
          entries: object[];
        };
        same(entries.length, 2, 'entries');
        same(Object.keys(entries[0] ?? {}).length >= 4, true, 'whether an entry has four fields');
      },
    },
    {
      lines: '149, 301, 313',
      says: '`/_cache/peers` has `peers` without the replica itself, `self` and `count`; a static list is never read again',
      probe: async (lab) => {
        const site = await one(lab, { 'peer-static': '10.1.1.1:3100,10.1.1.2:3100' });
        const { peers: found, self, count } = await ring(site);
        same([found, self], [['10.1.1.1:3100', '10.1.1.2:3100'], site.address], 'peers and self');
        same(typeof count, 'number', 'the type of count');
      },
    },
    {
      lines: '289, 302, 550',
      says: '`/_cache/purge` empties one replica; a flush with `?peers=1` all of them, and tells of each how it went',
      probe: async (lab) => {
        const { members } = await fleet(lab, 3, { 'peer-static': '' }, () => ({}));
        for (const site of members) await site.proxy.close();
        const fresh = await fleet(lab, 3);
        const has = async (site: Site): Promise<boolean> =>
          (await call(site, '/_cache/get?key=a')).status === 200;
        const fill = async (): Promise<void> => {
          for (const site of fresh.members)
            await call(site, '/_cache/set?key=a&ttl_ms=60000', 'POST', 'value');
        };
        const [first, second, third] = fresh.members;
        expect(first !== undefined && second !== undefined && third !== undefined, 'there are no replicas');
        await fill();
        await call(first, '/_cache/purge', 'POST');
        same([await has(first), await has(second)], [false, true], 'after a purge');
        await fill();
        await third.proxy.close();
        const flushed = await ask(`${first.adminUrl}/admin/cache/flush?peers=1`, { method: 'POST' });
        same([await has(first), await has(second)], [false, false], 'after a flush');
        expect(/purged/.test(flushed.text) && /error: /.test(flushed.text), flushed.text);
      },
    },
    {
      lines: '306',
      says: 'the cache of peers is on only with `-peer-self` and `-peer-discovery` both',
      probe: async (lab) => {
        const site = await lab.site({ 'peer-self': '127.0.0.1:1', 'peer-auth-token': token });
        same((await call(site, '/_cache/peers')).status, 404, 'the status without a discovery');
      },
    },
    {
      lines: '310',
      says: 'with dns the addresses of a name are peers on port 3100',
      probe: async (lab) => {
        const zone = { a: new Map([['fleet.test', ['10.9.8.7', '10.9.8.6']]]), srv: new Map() };
        const servers = await dnsServer({ teardown: (close) => lab.later(close) }, zone);
        const site = await one(lab, {
          'peer-discovery': 'dns',
          'peer-dns': 'fleet.test',
          'peer-dns-servers': servers,
        });
        await until(
          'the peers',
          async () => (await ring(site)).peers.join() === '10.9.8.6:3100,10.9.8.7:3100',
        );
        zone.a.set('fleet.test', ['10.9.8.7']);
        await until('one to go', async () => (await ring(site)).peers.join() === '10.9.8.7:3100');
      },
    },
    {
      lines: '311, 315',
      says: 'with srv host and port come from each record; a name without its three parts is refused',
      probe: async (lab) => {
        const records = [{ host: '10.9.8.7', port: 3200 }];
        const zone = { a: new Map<string, string[]>(), srv: new Map([['_http._tcp.fleet.test', records]]) };
        const servers = await dnsServer({ teardown: (close) => lab.later(close) }, zone);
        const srv = { 'peer-discovery': 'srv', 'peer-dns-servers': servers };
        const site = await one(lab, { ...srv, 'peer-srv': '_http._tcp.fleet.test' });
        await until('the peer', async () => (await ring(site)).peers.join() === '10.9.8.7:3200');
        const refused = await one(lab, { ...srv, 'peer-srv': 'fleet.test' }).then(
          () => 'started',
          (error: unknown) => String(error),
        );
        expect(refused.includes('peer-srv'), refused);
      },
    },
    shapeClaim('a list of `host:port`', (addresses) => addresses),
    shapeClaim('an object with `peers`', (addresses) => ({ peers: addresses })),
    shapeClaim('groups with `targets` and `labels`', (addresses) => [
      { targets: addresses, labels: { az: 'a' } },
    ]),
    shapeClaim('a catalog with `ServiceAddress` and `ServicePort`', (addresses) =>
      addresses.map((address) => {
        const [ServiceAddress = '', port = ''] = address.split(':');
        return { ServiceAddress, ServicePort: Number(port) };
      }),
    ),
    {
      lines: '14, 317, 560, 564',
      says: 'an answer that one replica has is not asked of the backend again by another: it was handed to its owner',
      probe: async (lab) => {
        await filled(lab);
        const { members, relay } = await fleet(lab, 3);
        const [first, ...others] = members;
        for (let at = 0; at < 4; at += 1) await first?.json('query', question(lab, at));
        await until(
          'the writes',
          async () => (await first?.metric('peer_cache_write_through_waiting_bytes')) === 0,
        );
        relay.forget();
        for (const site of others)
          for (let at = 0; at < 4; at += 1) await site.json('query', question(lab, at));
        same(
          relay.calls.map(({ path }) => path),
          [],
          'calls',
        );
      },
    },
    {
      lines: '317',
      says: 'with `-peer-self-az` peers of the own zone are asked first',
      probe: async (lab) => {
        await filled(lab);
        let groups: unknown = [];
        const server = createServer((_, response) => response.end(JSON.stringify(groups)));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        lab.later(() => {
          server.close();
          server.closeAllConnections();
        });
        const { port } = server.address() as AddressInfo;
        const { members, relay } = await fleet(lab, 3, {
          'peer-discovery': 'http',
          'peer-http-url': `http://127.0.0.1:${port}`,
          'peer-self-az': 'here',
          'peer-write-through': 'false',
        });
        const [self, near, far] = members;
        expect(self !== undefined && near !== undefined && far !== undefined, 'there are no replicas');
        groups = [
          { targets: [self.address, near.address], labels: { az: 'here' } },
          { targets: [far.address], labels: { availability_zone: 'there' } },
        ];
        for (const site of members)
          await until('the peers', async () => (await site.metric('peer_cache_peers')) === 2);
        for (let at = 0; at < 12; at += 1) await near.json('query', question(lab, at));
        relay.forget();
        for (let at = 0; at < 12; at += 1) await self.json('query', question(lab, at));
        const hits = await self.metric('peer_cache_hits_total');
        expect(hits >= 5, `${hits} of 12 answers came from the own zone`);
      },
    },
    {
      lines: '317',
      says: 'without a zone the peer with the most time left is asked',
      differs: 'Without `-peer-self-az` the owner of a key is asked',
      probe: async (lab) => {
        await filled(lab);
        const asked: string[] = [];
        const [first, second] = await Promise.all(
          [0, 1].map(async () => {
            const server = createServer((incoming, response) => {
              asked.push(incoming.url ?? '');
              response.writeHead(404).end();
            });
            await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
            lab.later(() => {
              server.close();
              server.closeAllConnections();
            });
            return `127.0.0.1:${(server.address() as AddressInfo).port}`;
          }),
        );
        const site = await one(lab, {
          'peer-static': `${first ?? ''},${second ?? ''}`,
          'peer-write-through': 'false',
        });
        for (let at = 0; at < 6; at += 1) await site.json('query', question(lab, at));
        expect(
          asked.some((path) => path.startsWith('/_cache/get')),
          'no peer is asked',
        );
        same(
          asked.filter((path) => path.startsWith('/_cache/has')),
          [],
          'questions who has it',
        );
      },
    },
    {
      lines: '151',
      says: 'keys of windows of labels begin with `labels:` and have start, end and query',
      differs: 'Keys of the caches are not those of the specification',
      probe: async (lab) => {
        await filled(lab);
        const site = await one(lab);
        await site.json('labels', lab.range(4 * hourMs));
        const { text } = await call(site, '/_cache/hot?limit=100');
        expect(!/"labels:start=/.test(text), 'they do');
      },
    },
    {
      lines: '209, 317',
      says: 'a peer that fails is left alone, and the backend asked',
      probe: async (lab) => {
        await filled(lab);
        const site = await one(lab, { 'peer-static': '127.0.0.1:1', 'peer-timeout': '300ms' });
        for (let at = 0; at < 8; at += 1)
          same((await site.get('query', question(lab, at))).status, 200, 'the status');
        expect((await site.metric('peer_cache_errors_total')) > 0, 'no error is counted');
      },
    },
    {
      lines: '561, 564',
      says: 'with `-peer-hot-read-ahead-enabled` what peers are asked for most is fetched ahead',
      probe: async (lab) => {
        await filled(lab);
        const { members } = await fleet(lab, 2, {
          'peer-hot-read-ahead-enabled': 'true',
          'peer-hot-read-ahead-interval': '200ms',
          'peer-hot-read-ahead-jitter': '0',
          'compat-cache-enabled': 'false',
          'peer-write-through': 'false',
        });
        const [first, second] = members;
        for (let round = 0; round < 3; round += 1)
          for (let at = 0; at < 8; at += 1) await first?.json('query', question(lab, at));
        await until(
          'a fetch ahead',
          async () => ((await second?.metric('peer_cache_read_ahead_prefetches_total')) ?? 0) > 0,
        );
      },
    },
  ],
};

function hasZstd(): boolean {
  return (
    Number(process.versions.node.split('.')[0]) > 22 || /^22\.(1[5-9]|[2-9]\d)\./.test(process.versions.node)
  );
}
