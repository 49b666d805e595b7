import * as zlib from 'node:zlib';
import { gzipSync, gunzipSync } from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import { framed } from '../../../../core/cache/frame.js';
import { withProxy } from '../../../../core/testing/index.js';
import { metric, pipeline } from '../stored.js';
import { ask, auth, filled, pathOf, token, withFleet } from './fleet.js';
import { until } from '../../../setup/until.js';

/** The encoding between replicas, if this release of Node supports it. */
const bestEncoding = 'zstdCompress' in zlib ? 'zstd' : 'gzip';

const value = (key: string, text: string, leftMs = 30_000): Promise<Buffer> =>
  framed(key, { packed: Buffer.from(text), leftMs, ageMs: 0 }, token);

function set(
  url: string,
  params: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/_cache/set?${params}`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'application/octet-stream', ...headers },
    body: new Uint8Array(body),
  });
}

const get = (url: string, path: string, headers = {}): Promise<Response> =>
  fetch(url + path, { headers: { ...auth, 'accept-encoding': 'identity', ...headers } });

test.serial('a value that is set is there for its time, and comes back as it was', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
    const url = replica?.url ?? '';
    t.is((await get(url, '/_cache/get?key=0:zz')).status, 404);
    t.is(await (await get(url, '/_cache/get?key=0:zz')).text(), '');
    const isSet = await set(url, 'key=0:zz&ttl_ms=20000', await value('0:zz', 'small'));
    t.is(isSet.status, 204);
    t.is(isSet.headers.get('x-peer-set-encoding'), bestEncoding);
    const got = await get(url, '/_cache/get?key=0:zz');
    t.is(got.status, 200);
    t.is(got.headers.get('content-type'), 'application/octet-stream');
    t.is(got.headers.get('x-peer-set-encoding'), bestEncoding);
    const leftMs = Number(got.headers.get('x-cache-ttl-ms'));
    t.true(leftMs > 5_000 && leftMs <= 20_000, String(leftMs));
    t.true(
      Buffer.from(await got.arrayBuffer())
        .toString('latin1')
        .endsWith('small'),
    );
    t.is(await metric(url, 'peer_cache_received_total'), '1');
  });
});

test.serial(
  'what no replica has framed comes back as it was, is told by has, goes with a flush, and answers no request',
  async (t) => {
    const backend = await filled(t);
    await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
      const url = replica?.url ?? '';
      t.is((await set(url, 'key=zz&ttl_ms=20000', Buffer.from('any text'))).status, 204);
      const got = await get(url, '/_cache/get?key=zz');
      t.is(`${got.status} ${await got.text()}`, '200 any text');
      t.true(Number(got.headers.get('x-cache-ttl-ms')) > 15_000);
      t.is((await get(url, '/_cache/get?key=zz&framed=1')).status, 404);
      t.like(await (await get(url, '/_cache/has?keys=zz,none')).json(), {
        zz: { ok: true },
        none: { ok: false },
      });
      t.is((await set(url, 'key=short&ttl_ms=4000', Buffer.from('v'))).status, 204);
      t.is((await get(url, '/_cache/get?key=short')).status, 404);
      t.is((await fetch(`${url}/_cache/purge`, { method: 'POST', headers: auth })).status, 200);
      t.is((await get(url, '/_cache/get?key=zz')).status, 404);
    });
  },
);

test.serial('keys of values that no replica has framed count as well', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
    const url = replica?.url ?? '';
    // Twenty of these exceed the total limit of 16 MiB.
    const keys = Array.from({ length: 20 }, (_, index) => `${index}-${'k'.repeat(900_000)}`);
    for (const key of keys) t.is((await set(url, `key=${key}&ttl_ms=20000`, Buffer.from('v'))).status, 204);
    t.is((await get(url, `/_cache/get?key=${keys.at(-1) ?? ''}`)).status, 200);
    t.is((await get(url, `/_cache/get?key=${keys[0] ?? ''}`)).status, 404);
  });
});

test.serial(
  'a time to live that is missing or none means 30 seconds, and what is left for less than 5 is not there',
  async (t) => {
    const backend = await filled(t);
    await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
      const url = replica?.url ?? '';
      for (const ttl of ['', '&ttl_ms=', '&ttl_ms=x', '&ttl_ms=0', '&ttl_ms=-5']) {
        t.is(
          (await set(url, `key=0:k${encodeURIComponent(ttl)}${ttl}`, await value(`0:k${ttl}`, 'v', 60_000)))
            .status,
          204,
        );
        const leftMs = Number(
          (await get(url, `/_cache/get?key=0:k${encodeURIComponent(ttl)}`)).headers.get('x-cache-ttl-ms'),
        );
        t.true(leftMs > 5_000 && leftMs <= 30_000, `${ttl} ${leftMs}`);
      }
      await set(url, 'key=0:short&ttl_ms=4900', await value('0:short', 'v'));
      t.is((await get(url, '/_cache/get?key=0:short')).status, 404);
      const has = await get(url, '/_cache/has?keys=0:short,0:k,nope');
      const shown = (await has.json()) as Record<string, { ok: boolean; ttl_ms?: number }>;
      t.deepEqual([shown['0:short'], shown['nope'], shown['0:k']?.ok], [{ ok: false }, { ok: false }, true]);
      t.true((shown['0:k']?.ttl_ms ?? 0) > 5_000);
    });
  },
);

test.serial('large values are compressed for those who take it', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
    const url = replica?.url ?? '';
    const plain = await value('0:large', 'x'.repeat(10_000));
    t.is((await set(url, 'key=0:large', gzipSync(plain), { 'content-encoding': 'gzip' })).status, 204);
    const raw = await fetchRaw(`${url}/_cache/get?key=0:large`, { ...auth, 'accept-encoding': 'gzip' });
    t.is(raw.encoding, 'gzip');
    t.true(raw.body.byteLength < 1_000);
    t.is(gunzipSync(raw.body).byteLength, plain.byteLength);
    const identity = await fetchRaw(`${url}/_cache/get?key=0:large`, {
      ...auth,
      'accept-encoding': 'identity',
    });
    t.is(identity.body.byteLength, plain.byteLength);
    t.is((await set(url, 'key=0:tiny', await value('0:tiny', 'x'))).status, 204);
    t.not(
      (await fetchRaw(`${url}/_cache/get?key=0:tiny`, { ...auth, 'accept-encoding': 'gzip' })).encoding,
      'gzip',
    );
  });
});

/** Like `fetch`, without decoding. */
async function fetchRaw(url: string, headers: Readonly<Record<string, string>>) {
  const answer = await request(url, { headers });
  return {
    encoding: answer.headers['content-encoding'],
    body: Buffer.from(await answer.body.arrayBuffer()),
  };
}

test.serial('calls that cannot be used are refused in the words of the specification', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 1 }, async ([replica]) => {
    const url = replica?.url ?? '';
    const errorOf = async (answer: Promise<Response>): Promise<string> => {
      const { status, text } = await answer.then(async (got) => ({
        status: got.status,
        text: await got.text(),
      }));
      return `${status} ${(JSON.parse(text) as { readonly error: string }).error}`;
    };
    const frame = await value('0:k', 'v');
    t.is(await errorOf(get(url, '/_cache/get')), '400 missing key');
    t.is(await errorOf(set(url, '', frame)), '400 missing key');
    t.is(await errorOf(set(url, 'key=0:k', Buffer.alloc(0))), '400 empty value');
    t.is(await errorOf(set(url, 'key=0:k', frame, { 'content-encoding': 'gzip' })), '400 decode body failed');
    t.is(await errorOf(set(url, 'key=0:k', frame, { 'content-encoding': 'br' })), '400 decode body failed');
    t.is(await errorOf(set(url, 'key=0:k', Buffer.alloc(9 * 1024 * 1024))), '400 read body failed');
    const bomb = gzipSync(Buffer.alloc(9 * 1024 * 1024));
    t.is(await errorOf(set(url, 'key=0:k', bomb, { 'content-encoding': 'gzip' })), '400 decode body failed');
    t.is(await errorOf(get(url, '/_cache/has')), '400 missing keys');
    const many = Array.from({ length: 201 }, (_, at) => `k${at}`).join(',');
    t.is(await errorOf(get(url, `/_cache/has?keys=${many}`)), '400 too many keys (max 200)');
    t.is((await get(url, '/_cache/x')).status, 404);
    t.is((await get(url, '/_cache/purge')).status, 405);
    // A value of another key, a changed one, a truncated one, and one from a sender without the token.
    const changed = Buffer.from(frame);
    changed[changed.length - 1] = 0;
    const forged = await framed(
      '0:k',
      { packed: Buffer.from('v'), leftMs: 30_000, ageMs: 0 },
      'another token',
    );
    for (const [name, body] of Object.entries({
      changed,
      forged,
      cut: frame.subarray(0, 20),
      other: await value('0:j', 'v'),
    }))
      t.is(await errorOf(set(url, 'key=0:k', body)), '400 decode body failed', name);
    t.is((await get(url, '/_cache/get?key=0:k')).status, 404);
  });
});

test.serial('without the token, or with a wrong one, everything is refused', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 2 }, async ([replica]) => {
    const url = replica?.url ?? '';
    for (const headers of [
      {},
      { 'x-peer-token': 'wrong' },
      { 'x-peer-token': '' },
      { 'x-peer-token': `${token} ` + 'x' },
    ])
      for (const [method, path] of [
        ['GET', 'get?key=a'],
        ['POST', 'set?key=a'],
        ['GET', 'has?keys=a'],
        ['GET', 'peers'],
        ['POST', 'purge'],
      ] as const) {
        const answer = await fetch(`${url}/_cache/${path}`, {
          method,
          headers,
          ...(method === 'POST' ? { body: 'x' } : {}),
        });
        t.is(answer.status, 401, path);
        t.is(((await answer.json()) as { readonly error: string }).error, 'peer authentication required');
      }
  });
});

test.serial('the ring is described without the one that is asked', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, others: ['10.0.0.9:3100'] }, async ([first, ...others]) => {
    const described = await (await get(first?.url ?? '', '/_cache/peers')).json();
    const peers = [...others.map(({ address }) => address), '10.0.0.9:3100'].sort();
    t.deepEqual(described, { count: 3, peers, self: first?.address });
  });
});

test.serial('a purge empties the one that is asked and no other', async (t) => {
  const backend = await filled(t);
  await withFleet(
    { backend: backend.url, replicas: 2, flags: { 'peer-write-through': 'false' } },
    async ([first, second]) => {
      if (first === undefined || second === undefined) return t.fail();
      for (const one of [first, second]) await set(one.url, 'key=0:kept', await value('0:kept', 'v'));
      const purged = await fetch(`${first.url}/_cache/purge`, { method: 'POST', headers: auth });
      t.deepEqual(await purged.json(), {
        status: 'ok',
        message: 'peer cache purged (L0 hot index + L1 memory + L2 disk)',
      });
      t.is((await get(first.url, '/_cache/get?key=0:kept')).status, 404);
      t.is((await get(second.url, '/_cache/get?key=0:kept')).status, 200);
      const tenant = await fetch(`${second.url}/_cache/purge?tenant=1`, { method: 'POST', headers: auth });
      t.is(tenant.status, 200);
      t.is((await get(second.url, '/_cache/get?key=0:kept')).status, 200);
      t.is(
        (await fetch(`${second.url}/_cache/purge?tenant=`, { method: 'POST', headers: auth })).status,
        400,
      );
    },
  );
});

test.serial('without a fleet there are no such routes', async (t) => {
  const backend = await filled(t);
  for (const flags of [
    {},
    { 'peer-self': '127.0.0.1:1' },
    {
      'cache-disabled': 'true',
      'peer-self': '127.0.0.1:1',
      'peer-discovery': 'static',
      'peer-auth-token': token,
    },
  ])
    await withProxy(
      pipeline(backend.url),
      async ({ url }) => {
        t.is((await get(url, '/_cache/get?key=a')).status, 404);
        t.true((await get(url, '/_cache/get?key=a').then((got) => got.text())).includes('not found'));
      },
      { flags },
    );
});

test.serial(
  'answers are handed over unless the option says no, and only those that are kept for its least',
  async (t) => {
    const backend = await filled(t);
    const received = async (flags: Readonly<Record<string, string>>): Promise<number> => {
      let count = 0;
      await withFleet({ backend: backend.url, replicas: 2, flags }, async ([first, second]) => {
        if (first === undefined || second === undefined) return t.fail();
        // Ports are random, and so are the owners of keys: with this many, some keys belong to the second replica.
        for (let number = 0; number < 40; number += 1) await ask(first, pathOf('a', number));
        await until(async () => (await metric(first.url, 'peer_cache_write_through_waiting_bytes')) === '0');
        count = Number(await metric(second.url, 'peer_cache_received_total'));
        t.is(await metric(first.url, 'peer_cache_write_through_pushes_total'), String(count));
      });
      return count;
    };
    t.true((await received({})) > 0);
    t.is(await received({ 'peer-write-through': 'false' }), 0);
    t.is(await received({ 'peer-write-through-min-ttl': '100h' }), 0);
  },
);
