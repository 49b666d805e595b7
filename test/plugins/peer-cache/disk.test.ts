import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { withDisk } from '../../core/cache/disk-engines.js';
import { withProxy } from '../../../core/testing/index.js';
import { metric, pipeline, stored } from './stored.js';

withDisk(test)(
  'a proxy that is started again answers from the disk, unless its options give other answers',
  async (t) => {
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
        for (const tier of ['disk', 'memory']) {
          t.is(await metric(url, `${tier}_cache_age_seconds_count`), '1');
          t.true(Number(await metric(url, `${tier}_cache_age_seconds_sum`)) > 0);
        }
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
  },
);

withDisk(test)('a flush of the caches empties the disk as well', async (t) => {
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

withDisk(test)(
  'a flush of one tenant leaves what is kept of the others, in memory and on disk',
  async (t) => {
    const { backend, ask, flags } = await stored(t);
    await withProxy(
      pipeline(backend.url),
      async ({ url, proxy }) => {
        for (const tenant of ['0', '1']) await ask(url, tenant);
        const asked = backend.stats().calls['/select/logsql/query'];
        const flush = (tenant: string): Promise<Response> =>
          fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush?tenant=${tenant}`, { method: 'POST' });
        t.is((await flush('')).status, 400);
        for (const tenant of ['0', '1']) await ask(url, tenant);
        t.is(backend.stats().calls['/select/logsql/query'], asked);
        t.is((await flush('1')).status, 200);
        await ask(url, '0');
        t.is(backend.stats().calls['/select/logsql/query'], asked);
      },
      { flags },
    );
    await withProxy(
      pipeline(backend.url),
      async ({ url }) => {
        await ask(url, '0');
        t.is(await metric(url, 'disk_cache_hits_total'), '1');
        await ask(url, '1');
        t.is(await metric(url, 'disk_cache_misses_total'), '1');
      },
      { flags },
    );
  },
);

withDisk(test)('a disk cache that cannot be written keeps the proxy from starting', async (t) => {
  const { backend, flags } = await stored(t);
  const path = join(flags['disk-cache-path'], 'below a missing folder');
  await t.throwsAsync(
    withProxy(pipeline(backend.url), () => Promise.resolve(), {
      flags: { ...flags, 'disk-cache-path': path },
    }),
    { message: /stage "peer-cache" failed to start: -disk-cache-path: cannot use .*: ENOTDIR|ENOENT/ },
  );
});

withDisk(test)('a second proxy on the same file serves without a disk cache, and says so', async (t) => {
  const { backend, ask, flags } = await stored(t);
  await withProxy(
    pipeline(backend.url),
    async (first) => {
      await withProxy(
        pipeline(backend.url),
        async ({ url, log, proxy }) => {
          t.regex(await ask(url), /"one"/);
          t.is(await metric(url, 'disk_cache_up'), '0');
          // A flush starts a new file, unless the file belongs to another process.
          const flushed = await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
          t.is(flushed.status, 200);
          t.is(await metric(url, 'disk_cache_up'), '0');
          await log.find((record) =>
            JSON.stringify(record.get('error') ?? '').includes('another process uses this file'),
          );
        },
        { flags },
      );
      t.is(await metric(first.url, 'disk_cache_up'), '1');
      t.true((await stat(flags['disk-cache-path'])).size > 0);
    },
    { flags },
  );
});
