import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../core/embedded/index.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../../core/embedded/harness.js';

const pipeline = (backend: string, label = ''): string => `
version: 1
${label}
stages:
  - use: tenancy
  - use: translate
  - use: peer-cache
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: admin
`;

async function stored(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-disk-'));
  const backend = await startDevBackend();
  t.teardown(async () => {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  });
  const pushedNs = BigInt(Date.now() - 3_600_000) * 1_000_000n;
  await pushLoki(backend.url, { app: 'a' }, [[pushedNs, 'one']], '?disable_message_parsing=1');
  const query = new URLSearchParams({
    query: '{app="a"}',
    start: String(pushedNs - 60_000_000_000n),
    end: String(pushedNs + 60_000_000_000n),
  });
  const ask = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/loki/api/v1/query_range?${query.toString()}`);
    t.is(answer.status, 200);
    const { data } = (await answer.json()) as { readonly data: { readonly result: unknown } };
    return JSON.stringify(data.result);
  };
  const flags = { 'disk-cache-path': join(folder, 'cache.db'), 'server.register-instrumentation': 'true' };
  return { backend, ask, flags };
}

async function metric(url: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new RegExp(`^ref_proxy_${name} (.+)$`, 'm').exec(text)?.[1];
}

test('a proxy that is started again answers from the disk, unless its options give other answers', async (t) => {
  const { backend, ask, flags } = await stored(t);
  let first = '';
  await withProxy(pipeline(backend.url), async ({ url }) => (first = await ask(url)), { flags });
  t.regex(first, /"one"/);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      t.is(await ask(url), first);
      t.is(await metric(url, 'disk_cache_hits_total'), '1');
      t.is(await ask(url), first);
      t.is(await metric(url, 'memory_cache_hits_total'), '1');
      t.is(await metric(url, 'disk_cache_entries'), '1');
      t.is(await metric(url, 'disk_cache_up'), '1');
    },
    { flags },
  );
  t.is(backend.stats().calls['/select/logsql/query'], 1);
  await withProxy(
    pipeline(backend.url, 'names: { labelStyle: passthrough }'),
    async ({ url }) => {
      await ask(url);
      t.is(await metric(url, 'disk_cache_misses_total'), '1');
    },
    { flags },
  );
});

test('a flush of the caches empties the disk as well', async (t) => {
  const { backend, ask, flags } = await stored(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url, proxy }) => {
      await ask(url);
      await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    },
    { flags },
  );
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      await ask(url);
      t.is(await metric(url, 'disk_cache_misses_total'), '1');
    },
    { flags },
  );
});

test('a disk cache that cannot be written keeps the proxy from starting', async (t) => {
  const { backend, flags } = await stored(t);
  const path = join(flags['disk-cache-path'], 'below a missing folder');
  await t.throwsAsync(
    withProxy(pipeline(backend.url), () => Promise.resolve(), {
      flags: { ...flags, 'disk-cache-path': path },
    }),
    { message: /stage "peer-cache" failed to start: -disk-cache-path: .* cannot be used: ENOTDIR|ENOENT/ },
  );
});
