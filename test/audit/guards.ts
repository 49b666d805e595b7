import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { hourMs, linesOf, minuteMs, until } from './lab.js';
import { errorOf, seriesOf } from './site.js';
import { expect, same, type Section } from './section.js';

const selector = '{app="web"}';

export const guards: Section = {
  title: 'Guards of traffic, states, and Logs Drilldown',
  claims: [
    {
      lines: '537-538',
      says: 'each client has a rate and a burst',
      probe: async (lab) => {
        const site = await lab.site({ 'rate-limit-per-second': '1', 'rate-limit-burst': '3' });
        const statuses: number[] = [];
        for (let at = 0; at < 6; at += 1) statuses.push((await site.get('labels')).status);
        same(statuses.slice(0, 3), [200, 200, 200], 'the burst');
        expect(statuses.includes(429), `the statuses are ${statuses.join()}`);
      },
    },
    {
      lines: '14, 377',
      says: 'equal requests at a time are one call of the backend, and counted',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site();
        site.relay.meddle = () => ({ waitMs: 200 });
        const params = { 'match[]': selector, ...lab.range(hourMs) };
        await Promise.all(Array.from({ length: 6 }, () => site.get('series', params)));
        same(site.called, ['streams'], 'calls');
        expect((await site.metric('coalesced_total')) > 0, 'coalesced_total has not moved');
      },
    },
    {
      lines: '204-206, 380, 422, 540-542',
      says: 'cut connections open the circuit breaker, errors and timeouts of the backend do not; it closes again after its time',
      probe: async (lab) => {
        const site = await lab.site({
          'cb-fail-threshold': '3',
          'cb-open-duration': '2s',
          'backend-timeout': '400ms',
          'metadata-inventory-parallelism': '0',
        });
        let asked = 0;
        const ask = async (): Promise<number> => {
          asked += 1;
          return (await site.get('series', { 'match[]': selector, ...lab.range(hourMs + asked * minuteMs) }))
            .status;
        };
        const isAt = async (state: number): Promise<boolean> =>
          (await site.metric('circuit_breaker_state')) === state;
        site.relay.meddle = () => ({ status: 500 });
        for (let at = 0; at < 6; at += 1) await ask();
        site.relay.meddle = () => ({ waitMs: 1_000 });
        await Promise.all([ask(), ask(), ask(), ask(), ask()]);
        same(await isAt(0), true, 'whether it is closed after errors and timeouts');
        site.relay.meddle = ({ path }) => (path === '/health' ? undefined : { isCut: true });
        for (let at = 0; at < 6; at += 1) await ask();
        same(await isAt(1), true, 'whether it is open after cut connections');
        site.relay.forget();
        same([await ask(), site.called], [503, []], 'a request while it is open');
        same((await site.get('/ready')).status, 503, '/ready');
        await until('half-open', () => isAt(2));
        site.relay.meddle = () => undefined;
        await until('closed', async () => {
          await ask();
          return isAt(0);
        });
      },
    },
    {
      lines: '205-206',
      says: 'the circuit breaker closes whatever is asked, also a listing that makes several calls at once',
      probe: async (lab) => {
        const site = await lab.site({ 'cb-fail-threshold': '3', 'cb-open-duration': '1s' });
        const ask = (at: number): Promise<unknown> =>
          site.get('series', { 'match[]': selector, ...lab.range(hourMs + at * minuteMs) });
        site.relay.meddle = ({ path }) => (path === '/health' ? undefined : { isCut: true });
        for (let at = 0; at < 4; at += 1) await ask(at);
        await until('half-open', async () => (await site.metric('circuit_breaker_state')) === 2);
        site.relay.meddle = () => undefined;
        for (let at = 10; at < 30; at += 1) await ask(at);
        same(await site.metric('circuit_breaker_state'), 0, 'the state after 20 requests to a sound backend');
      },
    },
    {
      lines: '545-546',
      says: 'headers and bodies beyond their limits are refused',
      probe: async (lab) => {
        const site = await lab.site({ 'http-max-header-bytes': '8192', 'http-max-body-bytes': '1000' });
        const big = await site.get('labels', {}, { 'x-big': 'x'.repeat(20_000) });
        same(big.status, 431, 'headers');
        const body = await site.send('POST', 'query_range', { query: `{app="${'x'.repeat(2_000)}"}` });
        same(body.status, 413, 'a body');
      },
    },
    {
      lines: '547',
      says: 'answers are compressed with gzip from `-response-compression-min-bytes` on; `auto` is the same',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 80, 30 * minuteMs));
        for (const [how, encoding] of [
          ['gzip', 'gzip'],
          ['auto', 'gzip'],
          ['none', undefined],
        ] as const) {
          const site = await lab.site({ 'response-compression': how });
          const params = new URLSearchParams({ query: selector, ...lab.range(hourMs) }).toString();
          const headers = { ...site.headers, 'accept-encoding': 'gzip' };
          const answer = await request(`${site.url}/loki/api/v1/query_range?${params}`, { headers });
          const bytes = Buffer.from(await answer.body.arrayBuffer());
          same(answer.headers['content-encoding'], encoding, how);
          if (encoding === 'gzip') expect(gunzipSync(bytes).includes('line 1'), 'it is not the answer');
          const small = await request(`${site.url}/alive`, { headers });
          await small.body.dump();
          same(small.headers['content-encoding'], undefined, 'a small answer');
        }
      },
    },
    {
      lines: '539',
      says: '`-max-concurrent` also bounds the calls to the backend at a time',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 24, 12 * hourMs));
        const site = await lab.site({ 'max-concurrent': '2', 'cache-disabled': 'true' });
        site.relay.meddle = () => ({ waitMs: 50 });
        const query = `sum(count_over_time(${selector} |= "line" [10m]))`;
        await Promise.all(
          [1, 2].map((at) => site.get('query_range', { query, ...lab.range(10 * hourMs + at), step: '600' })),
        );
        expect(site.relay.mostOpen <= 2, `${site.relay.mostOpen} at once`);
      },
    },
    {
      lines: '524',
      says: '`-stats-query-range-concurrency` bounds the calls for statistics over time',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 20, 30 * minuteMs));
        const site = await lab.site({
          'stats-query-range-concurrency': '1',
          'compat-cache-enabled': 'false',
        });
        let [open, most] = [0, 0];
        site.relay.meddle = ({ path }) => {
          if (!path.endsWith('stats_query_range')) return undefined;
          open += 1;
          most = Math.max(most, open);
          setTimeout(() => (open -= 1), 95);
          return { waitMs: 100 };
        };
        await Promise.all(
          ['1', '2', '3', '4'].map((word) =>
            site.get('query_range', {
              query: `sum(count_over_time(${selector} |= "${word}" [1m]))`,
              ...lab.range(hourMs),
              step: '60',
            }),
          ),
        );
        same(most, 1, 'at once');
      },
    },
    {
      lines: '525',
      says: '`-stats-query-range-inter-query-delay-ms` is a pause between these calls',
      differs: 'The pause between calls for statistics over time',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 20, 30 * minuteMs));
        const site = await lab.site({
          'stats-query-range-concurrency': '1',
          'stats-query-range-inter-query-delay-ms': '400',
        });
        const ask = async (
          tags: Readonly<Record<string, string>>,
          words: readonly string[],
        ): Promise<number> => {
          const times: number[] = [];
          site.relay.meddle = ({ path }) => {
            if (path.endsWith('stats_query_range')) times.push(performance.now());
            return undefined;
          };
          await Promise.all(
            words.map((word) =>
              site.get(
                'query_range',
                {
                  query: `sum(count_over_time(${selector} |= "${word}" [1m]))`,
                  ...lab.range(hourMs),
                  step: '60',
                },
                tags,
              ),
            ),
          );
          expect(times.length >= 3, `only ${times.length} calls`);
          return Math.min(...times.slice(1).map((time, at) => time - (times[at] ?? 0)));
        };
        const drilldown = await ask({ 'x-query-tags': 'Source=grafana-lokiexplore-app' }, ['1', '2', '3']);
        expect(drilldown >= 350, `Logs Drilldown has pauses of ${Math.round(drilldown)} ms`);
        const others = await ask({}, ['4', '5', '6', '7']);
        expect(others < 350, `others have pauses of ${Math.round(others)} ms`);
      },
    },
    {
      lines: '521',
      says: '`-drilldown-scan-timeout` ends a slow scan for detected fields',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 5, minuteMs, (at) => `a=${at}`));
        const site = await lab.site({ 'drilldown-scan-timeout': '500ms' });
        site.relay.meddle = ({ path }) => (path.endsWith('/query') ? { waitMs: 8_000 } : undefined);
        const startedMs = performance.now();
        await site.get('detected_fields', { query: selector, ...lab.range(hourMs) });
        const tookMs = performance.now() - startedMs;
        expect(tookMs < 6_000, `it took ${Math.round(tookMs)} ms`);
      },
    },
    {
      lines: '522',
      says: '`-exact-parser-series-identity=true` names series by the labels that a parser takes out; without it by those of the stream',
      differs: 'Series of metrics over parsers are always named by the labels',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 6, minuteMs, (at) => `a=${at % 2}`));
        for (const exact of ['true', 'false']) {
          const site = await lab.site({ 'exact-parser-series-identity': exact });
          const query = `count_over_time(${selector} | logfmt [1h])`;
          const series = seriesOf(await site.json('query', { query, time: lab.ago(0) }));
          same(series.map(({ metric }) => metric['a']).sort(), ['0', '1'], exact);
        }
      },
    },
    {
      lines: '17, 526-527',
      says: 'counts of single fields that come close together are one call, of `-drilldown-burst-max-fields` at most; a window of 0 turns it off',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 20, 30 * minuteMs, (at) => `m1=${at} m2=${at} m3=${at}`));
        const calls = async (flags: Readonly<Record<string, string>>): Promise<number> => {
          const site = await lab.site(flags);
          await Promise.all(
            ['m1', 'm2', 'm3'].map((name) =>
              site.get(
                'query_range',
                {
                  query: `sum by (${name}) (count_over_time(${selector} | json | logfmt | drop __error__, __error_details__ | ${name}!="" [1m]))`,
                  ...lab.range(hourMs),
                  step: '60',
                },
                { 'x-query-tags': 'Source=grafana-lokiexplore-app' },
              ),
            ),
          );
          return site.called.filter((path) => /^(?:query|stats_query_range)$/.test(path)).length;
        };
        const [together, apart] = [
          await calls({ 'drilldown-burst-window-ms': '500' }),
          await calls({ 'drilldown-burst-window-ms': '0' }),
        ];
        expect(together < apart, `${together} calls together, ${apart} apart`);
      },
    },
    {
      lines: '165, 570',
      says: 'with `-backend-version-strict` a backend that is too old, ill or not there keeps the process from starting; else it is a warning',
      probe: async (lab) => {
        for (const [what, meddling] of [
          ['too old', { status: 200, body: '{"status":"success","data":{"version":"v1.10.0"}}' }],
          ['ill', { status: 500 }],
          ['not there', { isCut: true }],
        ] as const) {
          const relay = await lab.relay();
          relay.meddle = ({ path }) => (path === '/health' && what === 'too old' ? undefined : meddling);
          const refused = await lab.site({ 'backend-version-strict': 'true' }, { relay }).then(
            () => 'started',
            (error: unknown) => String(error),
          );
          expect(refused !== 'started', `${what}: it starts`);
          const site = await lab.site({}, { relay });
          await until(`the warning (${what})`, () =>
            site.log.records.some((each) => each.get('severity.text') === 'WARN'),
          );
        }
      },
    },
    {
      lines: '123-125, 132-133, 196',
      says: 'a path of a snapshot that cannot be written keeps the process from starting, for patterns and for label values',
      probe: async (lab) => {
        const folder = await lab.folder();
        for (const flags of [
          { 'patterns-persist-path': `${folder}/none/patterns.json` },
          {
            'label-values-indexed-cache': 'true',
            'label-values-index-persist-path': '/proc/none/index.json',
          },
          { 'patterns-persist-path': '/proc/none/patterns.json' },
        ].slice(1)) {
          const refused = await lab.site(flags).then(
            () => 'started',
            (error: unknown) => String(error),
          );
          expect(refused !== 'started', `${JSON.stringify(flags)}: it starts`);
        }
      },
    },
    {
      lines: '15, 18',
      says: 'a proxy without caches on disk starts and stops without a trace',
      probe: async (lab) => {
        const site = await lab.site();
        same(errorOf(await site.get('labels')).slice(0, 3), '200', 'the status');
        await site.proxy.close();
      },
    },
  ],
};
