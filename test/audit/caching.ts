import { asks, filled, selector } from './kept.js';
import { day, hourMs, linesOf, minuteMs, MovedClock, until } from './lab.js';
import type { Params } from './site.js';
import { expect, same, type Claim, type Section } from './section.js';

/** Checks the TTL of an answer: it is cached just before the end, and not just after. */
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
      await lab.push(
        linesOf({ app: 'web' }, 5, minuteMs, (at) => `a=${at} served`).map((line) => ({
          ...line,
          agoMs: line.agoMs + old,
        })),
      );
      const clock = new MovedClock();
      // Without the inventory and its index, which have their own rules.
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
        const site = await lab.site(
          { 'labels-cache-ttl': '20s', 'metadata-inventory-parallelism': '0' },
          { clock },
        );
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
        const params = {
          query: `sum by (app) (count_over_time(${selector}[30m]))`,
          time: lab.ago(3 * hourMs),
        };
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
        const site = await lab.site(
          { 'labels-cache-warm': 'true', 'warmup-max-jitter': '0' },
          { orgId: undefined },
        );
        await until('a label scan', () =>
          site.called.some((path) => /stream_field_names|streams/.test(path)),
        );
      },
    },
  ],
};
