import { statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { asks, filled, selector } from './kept.js';
import { day, hourMs, linesOf, minuteMs, until } from './lab.js';
import type { Params } from './site.js';
import { expect, same, type Section } from './section.js';

async function diskBytes(file: string): Promise<number> {
  await Promise.resolve();
  return ['', '-wal'].reduce((sum, end) => {
    try {
      return sum + statSync(file + end).size;
    } catch {
      return sum;
    }
  }, 0);
}

const query = { query: selector };

export const stores: Section = {
  title: 'On disk, in snapshots, and in a cold store',
  claims: [
    {
      lines: '14, 18, 457-461',
      says: 'what is kept on disk is there after a restart, written every `-disk-cache-flush-interval` or so many entries, compressed or not',
      probe: async (lab) => {
        await filled(lab);
        const folder = await lab.folder();
        for (const compress of ['true', 'false']) {
          const flags = {
            'disk-cache-path': join(folder, `${compress}.db`),
            'disk-cache-compress': compress,
            'disk-cache-flush-interval': '100ms',
          };
          const params = { query: `sum(count_over_time(${selector}[30m]))`, time: lab.ago(3 * hourMs) };
          const site = await lab.site(flags);
          await site.json('query', params);
          await until('a file', async () => (await diskBytes(flags['disk-cache-path'])) > 0);
          await site.proxy.close();
          site.relay.forget();
          const again = await lab.site(flags, { relay: site.relay });
          await again.json('query', params);
          same(again.called, [], `calls, compressed: ${compress}`);
        }
      },
    },
    {
      lines: '461',
      says: 'what is kept for less than `-disk-cache-min-ttl` is not written to disk',
      probe: async (lab) => {
        await filled(lab);
        const folder = await lab.folder();
        const flags = { 'disk-cache-path': join(folder, 'cache.db'), 'disk-cache-min-ttl': '60s' };
        const params = { 'match[]': selector, ...lab.range(4 * hourMs, 2 * hourMs) };
        const site = await lab.site({ ...flags, 'max-metadata-cache-freshness': '0' });
        await site.json('series', params);
        await site.proxy.close();
        const again = await lab.site(
          { ...flags, 'max-metadata-cache-freshness': '0' },
          { relay: site.relay },
        );
        same(await asks(again, 'series', params), true, 'whether the backend is asked');
      },
    },
    {
      lines: '462',
      says: '`-disk-cache-max-bytes` bounds the file',
      probe: async (lab) => {
        await lab.push(
          linesOf({ app: 'web' }, 200, 30 * minuteMs, (at) => `${at} ${'x'.repeat(500)}`).map((line) => ({
            ...line,
            agoMs: line.agoMs + 3 * hourMs,
          })),
        );
        const file = join(await lab.folder(), 'cache.db');
        const site = await lab.site({
          'disk-cache-path': file,
          'disk-cache-max-bytes': '200000',
          'disk-cache-compress': 'false',
          'disk-cache-flush-interval': '50ms',
        });
        for (let at = 0; at < 20; at += 1)
          await site.json('query_range', {
            ...query,
            limit: '200',
            ...lab.range(4 * hourMs + at, 2 * hourMs),
          });
        await site.proxy.close();
        const bytes = await diskBytes(file);
        expect(bytes > 0 && bytes < 600_000, `the file has ${bytes} bytes`);
      },
    },
    {
      lines: '120-124, 187',
      says: 'with the index of label values an empty query browses hot values first, whatever the time, with `limit`, `offset` and `search`',
      probe: async (lab) => {
        await lab.push(['a1', 'a2', 'b1'].flatMap((app) => linesOf({ app }, 1, minuteMs)));
        const site = await lab.site({ 'label-values-indexed-cache': 'true', 'label-values-hot-limit': '2' });
        const values = async (params: Params): Promise<unknown> =>
          (await site.json('label/app/values', params)).data;
        await values(lab.range(hourMs));
        same(((await values(lab.range(hourMs))) as unknown[]).length, 2, 'values without a limit');
        same(((await values(lab.range(9 * day, 8 * day))) as unknown[]).length, 2, 'values of another time');
        same(
          await values({ ...lab.range(hourMs), query: '*', limit: '9' }),
          ['a1', 'a2', 'b1'],
          'with a limit',
        );
        same(await values({ ...lab.range(hourMs), search: 'b', limit: '9' }), ['b1'], 'a search');
        same(
          ((await values({ ...lab.range(hourMs), offset: '2', limit: '9' })) as unknown[]).length,
          1,
          'an offset',
        );
        same(
          await asks(site, 'label/app/values', { ...lab.range(hourMs), query: '{app="a1"}' }),
          true,
          'whether a query is asked of the backend',
        );
      },
    },
    {
      lines: '188',
      says: 'the index has `-label-values-index-max-entries` values of a label at most',
      probe: async (lab) => {
        await lab.push(['a1', 'a2', 'a3', 'a4'].flatMap((app) => linesOf({ app }, 1, minuteMs)));
        const site = await lab.site({
          'label-values-indexed-cache': 'true',
          'label-values-index-max-entries': '2',
        });
        await site.json('label/app/values', lab.range(hourMs));
        const { data } = await site.json('label/app/values', { ...lab.range(hourMs), limit: '9' });
        same((data as unknown[]).length, 2, 'values');
      },
    },
    {
      lines: '125, 132, 192, 204, 420',
      says: '`/ready` is 503 until the warm-up of the index and of the patterns has ended, at a peer that does not answer after its timeout',
      probe: async (lab) => {
        const peer = createServer(() => undefined);
        await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
        lab.later(() => {
          peer.close();
          peer.closeAllConnections();
        });
        const { port } = peer.address() as AddressInfo;
        const folder = await lab.folder();
        const fleet = {
          'peer-self': '127.0.0.1:1',
          'peer-discovery': 'static',
          'peer-static': `127.0.0.1:1,127.0.0.1:${port}`,
          'peer-auth-token': 'secret',
          'peer-timeout': '10s',
        };
        for (const flags of [
          {
            'label-values-indexed-cache': 'true',
            'label-values-index-persist-path': join(folder, 'index.json'),
            'label-values-index-startup-peer-warm-timeout': '2s',
          },
          {
            'patterns-persist-path': join(folder, 'patterns.json'),
            'patterns-startup-peer-warm-timeout': '2s',
          },
        ]) {
          const site = await lab.site({ ...fleet, ...flags });
          const first = await site.get('/ready');
          same(first.status, 503, `at first, ${first.text}`);
          expect(first.text.includes('warming'), first.text);
          await until('readiness', async () => (await site.get('/ready')).status === 200);
        }
      },
    },
    {
      lines: '124-125, 189-191',
      says: 'the index of label values is written to its file, and is there after a restart',
      probe: async (lab) => {
        await lab.push(['a1', 'a2'].flatMap((app) => linesOf({ app }, 1, minuteMs)));
        const flags = {
          'label-values-indexed-cache': 'true',
          'label-values-index-persist-path': join(await lab.folder(), 'index.json'),
        };
        const site = await lab.site(flags);
        await site.json('label/app/values', lab.range(hourMs));
        await site.proxy.close();
        const again = await lab.site(flags, { relay: site.relay });
        await until('readiness', async () => (await again.get('/ready')).status === 200);
        again.relay.forget();
        same(
          (await again.json('label/app/values', { ...lab.range(hourMs), limit: '9' })).data,
          ['a1', 'a2'],
          'values',
        );
        same(again.called, [], 'calls');
      },
    },
    {
      lines: '52, 129-132, 182-184',
      says: 'patterns are written to their file when the process stops, and are there after a restart',
      probe: async (lab) => {
        await filled(lab);
        const flags = { 'patterns-persist-path': join(await lab.folder(), 'patterns.json') };
        const params = { ...query, ...lab.range(4 * hourMs, 2 * hourMs) };
        const site = await lab.site(flags);
        await site.json('patterns', params);
        await site.proxy.close();
        const again = await lab.site(flags, { relay: site.relay });
        await until('readiness', async () => (await again.get('/ready')).status === 200);
        const { data } = await again.json('patterns', params);
        same((data as unknown[]).length, 1, 'patterns');
        expect((await again.metric('patterns_restored_disk_entries_total')) > 0, 'none is restored');
      },
    },
    {
      lines: '131, 179',
      says: 'with `-patterns-autodetect-from-queries` answers of queries warm the patterns of their question',
      probe: async (lab) => {
        await filled(lab);
        const site = await lab.site({ 'patterns-autodetect-from-queries': 'true' });
        await site.entries({ ...query, ...lab.range(4 * hourMs, 2 * hourMs) });
        await until('a pattern', async () => (await site.metric('patterns_cache_keys')) > 0);
      },
    },
    {
      lines: '16, 470-475',
      says: 'with `-cold-enabled` what is older than `-cold-boundary` is asked of the cold backend, and a range across it of both',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 50, 10 * day));
        const cold = await lab.relay();
        const site = await lab.site({
          'cold-enabled': 'true',
          'cold-backend': cold.url,
          'cold-boundary': '168h',
        });
        const params = query;
        await site.entries({ ...params, ...lab.range(10 * day, 9 * day) });
        const reads = (relay: typeof cold): number =>
          relay.calls.filter(({ path }) => path.endsWith('/query')).length;
        same(
          [reads(site.relay) > 0, reads(cold) > 0],
          [false, true],
          'whether hot and cold are asked for old data',
        );
        site.relay.forget();
        cold.forget();
        await site.entries({ ...params, ...lab.range(2 * day, day) });
        same([reads(site.relay) > 0, reads(cold) > 0], [true, false], 'for new data');
        await site.entries({ ...params, limit: '1000', ...lab.range(9 * day, day + 1) });
        same(reads(cold) > 0, true, 'for a range across the boundary');
      },
    },
  ],
};
