import { statSync } from 'node:fs';
import { join } from 'node:path';
import { day, hourMs, linesOf, minuteMs, MovedClock, until, type Lab } from './lab.js';
import type { Params, Site } from './site.js';
import { expect, same, type Claim, type Section } from './section.js';

const selector = '{app="web"}';

/** Whether a request asks the backend anything. */
async function asks(site: Site, path: string, params: Params): Promise<boolean> {
  site.relay.forget();
  const { status } = await site.get(path, params);
  expect(status === 200, `${path} answers ${status}`);
  return site.called.length > 0;
}

/** How long an answer is kept: it is there just before, and not just after. */
function keptClaim(
  lines: string,
  path: string,
  keptMs: number,
  windowMs: number,
  params: Params = {},
  more = '',
): Claim {
  const seconds = keptMs / 1000;
  return {
    lines,
    says: `\`${path}\`${more} is kept for ${seconds} s`,
    probe: async (lab) => {
      const old = 3 * day;
      await lab.push(linesOf({ app: 'web' }, 5, minuteMs, (at) => `a=${at} served`).map((line) => ({ ...line, agoMs: line.agoMs + old })));
      const clock = new MovedClock();
      // Without the inventory and its index, which have rules of their own.
      const site = await lab.site({ 'metadata-inventory-parallelism': '0' }, { clock });
      const range = lab.range(old + windowMs, old);
      const given = { ...params, ...range };
      await asks(site, path, given);
      clock.advance(keptMs - 2_000);
      same(await asks(site, path, given), false, 'whether the backend is asked before that time');
      clock.advance(4_000);
      same(await asks(site, path, given), true, 'whether the backend is asked after it');
    },
  };
}

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

async function filled(lab: Lab): Promise<void> {
  await lab.push(
    linesOf({ app: 'web' }, 60, 30 * minuteMs, (at) => `served request ${at} in ${at * 3} ms`).map((line) => ({ ...line, agoMs: line.agoMs + 3 * hourMs })),
  );
}

const query = { query: selector };

export const caching: Section = {
  title: 'Caches',
  claims: [
    keptClaim('444', 'labels', 300_000, hourMs),
    keptClaim('444', 'label/app/values', 900_000, 5 * hourMs, {}, ' over five hours'),
    keptClaim('444', 'labels', 3_000_000, 20 * hourMs, {}, ' over twenty hours'),
    keptClaim('444', 'labels', 3_600_000, 6 * day, {}, ' over six days'),
    keptClaim('445', 'detected_fields', 90_000, hourMs, query),
    keptClaim('445', 'detected_field/a/values', 90_000, hourMs, query),
    keptClaim('445', 'detected_labels', 270_000, 5 * hourMs, query, ' over five hours'),
    keptClaim('446', 'series', 30_000, hourMs, { 'match[]': selector }),
    keptClaim('449', 'index/stats', 10_000, hourMs, query),
    keptClaim('449', 'index/volume', 10_000, hourMs, query),
    keptClaim('449', 'index/volume_range', 10_000, hourMs, { ...query, step: '60' }),
    {
      lines: '448',
      says: 'an answer to `query` is kept for 5 minutes',
      probe: async (lab) => {
        await filled(lab);
        const clock = new MovedClock();
        const site = await lab.site({}, { clock });
        const params = { query: `sum(count_over_time(${selector}[30m]))`, time: lab.ago(3 * hourMs) };
        await asks(site, 'query', params);
        clock.advance(290_000);
        same(await asks(site, 'query', params), false, 'before');
      },
    },
    {
      lines: '447',
      says: 'patterns are kept for good',
      probe: async (lab) => {
        await filled(lab);
        const clock = new MovedClock();
        const site = await lab.site({}, { clock });
        const params = { ...query, ...lab.range(4 * hourMs, 2 * hourMs) };
        await site.get('patterns', params);
        clock.advance(30 * day);
        const { data } = await site.json('patterns', params);
        same((data as unknown[]).length, 1, 'patterns after a month');
      },
    },
    {
      lines: '433',
      says: '`-labels-cache-ttl` is the time for labels and their values',
      probe: async (lab) => {
        await filled(lab);
        const clock = new MovedClock();
        const site = await lab.site({ 'labels-cache-ttl': '20s', 'metadata-inventory-parallelism': '0' }, { clock });
        const range = lab.range(3 * day, 3 * day - hourMs);
        await asks(site, 'labels', range);
        clock.advance(15_000);
        same(await asks(site, 'labels', range), false, 'before');
      },
    },
    {
      lines: '448, 511-513',
      says: 'an answer about a range that ends now is asked for again after `-recent-tail-refresh-max-staleness`; switched off it is not',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 5, minuteMs));
        for (const enabled of ['true', 'false']) {
          const clock = new MovedClock();
          const site = await lab.site({ 'recent-tail-refresh-enabled': enabled }, { clock });
          const params = { query: `sum(count_over_time(${selector}[5m]))`, time: lab.ago(0) };
          await asks(site, 'query', params);
          clock.advance(1_000);
          same(await asks(site, 'query', params), false, `after a second, ${enabled}`);
          clock.advance(3_000);
          same(await asks(site, 'query', params), enabled === 'true', `after four seconds, ${enabled}`);
        }
      },
    },
    {
      lines: '435',
      says: 'labels, values and series that end within `-max-metadata-cache-freshness` are asked for again after that staleness; 0 keeps them',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 5, minuteMs));
        for (const [freshness, isAsked] of [
          ['24h', true],
          ['0', false],
        ] as const) {
          const clock = new MovedClock();
          const site = await lab.site({ 'max-metadata-cache-freshness': freshness }, { clock });
          const params = { 'match[]': selector, ...lab.range(hourMs) };
          await asks(site, 'series', params);
          clock.advance(5_000);
          same(await asks(site, 'series', params), isAsked, `with ${freshness}`);
        }
      },
    },
    {
      lines: '438, 435',
      says: 'lists of labels come from buckets of time: a second browse of a day reads the newest part only',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 100, 20 * hourMs));
        const clock = new MovedClock();
        const site = await lab.site({}, { clock });
        await site.json('label/app/values', lab.range(20 * hourMs));
        clock.advance(5_000);
        site.relay.forget();
        await site.json('label/app/values', lab.range(20 * hourMs));
        const reach = site.relay.calls.map(({ args }) => {
          const [from, to] = ['start', 'end'].map((name) => Number(args.get(name) ?? 0));
          return ((to ?? 0) - (from ?? 0)) / (String(Math.trunc(to ?? 0)).length > 14 ? 1e6 : 1);
        });
        expect(reach.length > 0 && Math.max(...reach) < 10 * hourMs, `ranges of ${reach.join()} ms are read`);
      },
    },
    {
      lines: '451',
      says: 'lists without anything are kept for 30 s, or `-disk-cache-min-ttl` where that is longer',
      probe: async (lab) => {
        const clock = new MovedClock();
        const site = await lab.site({ 'metadata-inventory-parallelism': '0' }, { clock });
        const range = lab.range(3 * day, 2 * day);
        await asks(site, 'labels', range);
        clock.advance(25_000);
        same(await asks(site, 'labels', range), false, 'before');
        clock.advance(10_000);
        same(await asks(site, 'labels', range), true, 'after');
      },
    },
    {
      lines: '14, 431-432, 436',
      says: 'an answer is given again from the first cache without a call; `-compat-cache-enabled=false` and `-cache-disabled` leave that out',
      probe: async (lab) => {
        await filled(lab);
        const params = { query: `sum by (app) (count_over_time(${selector}[30m]))`, time: lab.ago(3 * hourMs) };
        for (const [flags, isAsked] of [
          [{}, false],
          [{ 'compat-cache-enabled': 'false' }, false],
          [{ 'compat-cache-enabled': 'false', 'cache-disabled': 'true' }, true],
        ] as const) {
          const site = await lab.site(flags);
          await asks(site, 'query', params);
          same(await asks(site, 'query', params), isAsked, JSON.stringify(flags));
        }
      },
    },
    {
      lines: '436',
      says: 'the first cache is not for deletions, pushes and tails',
      probe: async (lab) => {
        const site = await lab.site();
        for (let round = 0; round < 2; round += 1) {
          same((await site.send('POST', 'push', {})).status, 405, 'a push');
          same((await site.send('POST', 'delete', {})).status, 400, 'a deletion');
        }
        same((await site.metric('cache_hits_total')) > 0, false, 'whether there are hits');
      },
    },
    {
      lines: '437',
      says: '`-compat-cache-max-percent` is 50 at most',
      isQuick: true,
      probe: async (lab) => {
        const refused = await lab.site({ 'compat-cache-max-percent': '51' }).then(
          () => 'started',
          (error: unknown) => String(error),
        );
        expect(refused.includes('compat-cache-max-percent'), refused);
        await lab.site({ 'compat-cache-max-percent': '0' });
      },
    },
    {
      lines: '434',
      says: 'with `-labels-cache-warm` labels of the last 1 h, 6 h, 24 h and 7 d are read at the start',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs), 0);
        const site = await lab.site({ 'labels-cache-warm': 'true', 'warmup-max-jitter': '0' }, { orgId: undefined });
        await until('a label scan', () => site.called.some((path) => /stream_field_names|streams/.test(path)));
      },
    },
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
        const again = await lab.site({ ...flags, 'max-metadata-cache-freshness': '0' }, { relay: site.relay });
        same(await asks(again, 'series', params), true, 'whether the backend is asked');
      },
    },
    {
      lines: '462',
      says: '`-disk-cache-max-bytes` bounds the file',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 200, 30 * minuteMs, (at) => `${at} ${'x'.repeat(500)}`).map((line) => ({ ...line, agoMs: line.agoMs + 3 * hourMs })));
        const file = join(await lab.folder(), 'cache.db');
        const site = await lab.site({
          'disk-cache-path': file,
          'disk-cache-max-bytes': '200000',
          'disk-cache-compress': 'false',
          'disk-cache-flush-interval': '50ms',
        });
        for (let at = 0; at < 20; at += 1)
          await site.json('query_range', { ...query, limit: '200', ...lab.range(4 * hourMs + at, 2 * hourMs) });
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
        const values = async (params: Params): Promise<unknown> => (await site.json('label/app/values', params)).data;
        await values(lab.range(hourMs));
        same(((await values(lab.range(hourMs))) as unknown[]).length, 2, 'values without a limit');
        same(((await values(lab.range(9 * day, 8 * day))) as unknown[]).length, 2, 'values of another time');
        same(await values({ ...lab.range(hourMs), query: '*', limit: '9' }), ['a1', 'a2', 'b1'], 'with a limit');
        same(await values({ ...lab.range(hourMs), search: 'b', limit: '9' }), ['b1'], 'a search');
        same(((await values({ ...lab.range(hourMs), offset: '2', limit: '9' })) as unknown[]).length, 1, 'an offset');
        same(await asks(site, 'label/app/values', { ...lab.range(hourMs), query: '{app="a1"}' }), true, 'whether a query is asked of the backend');
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
        same((await again.json('label/app/values', { ...lab.range(hourMs), limit: '9' })).data, ['a1', 'a2'], 'values');
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
        const site = await lab.site({ 'cold-enabled': 'true', 'cold-backend': cold.url, 'cold-boundary': '168h' });
        const params = query;
        await site.entries({ ...params, ...lab.range(10 * day, 9 * day) });
        const reads = (relay: typeof cold): number => relay.calls.filter(({ path }) => path.endsWith('/query')).length;
        same([reads(site.relay) > 0, reads(cold) > 0], [false, true], 'whether hot and cold are asked for old data');
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
