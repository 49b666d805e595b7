import { hourMs, linesOf, minuteMs } from './lab.js';
import { errorOf, seriesOf } from './site.js';
import { expect, same, type Section } from './section.js';

const selector = '{app="web"}';
const day = 24 * hourMs;

export const errors: Section = {
  title: 'Refusals, and limits of queries',
  claims: [
    {
      lines: '43, 405, 477-481',
      says: 'a range over the longest one is 400 `bad_data` with both lengths, on range queries, series, labels, values, detected labels and statistics',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site({ 'default-max-query-length': '2h' });
        for (const path of [
          'query_range',
          'series',
          'labels',
          'label/app/values',
          'detected_labels',
          'index/stats',
        ]) {
          const params =
            path === 'series' ? { 'match[]': selector } : path.startsWith('label') ? {} : { query: selector };
          const reply = await site.get(path, { ...params, ...lab.range(4 * hourMs) });
          const text = '400 the query time range exceeds the limit (query length: 4h0m0s, limit: 2h)';
          same(errorOf(reply), text, path);
          expect(reply.text.includes('"errorType":"bad_data"'), reply.text);
        }
        same(site.called, [], 'calls');
      },
    },
    {
      lines: '479',
      says: 'lengths of `-default-max-query-length` have no unit for days, and 0 is no limit',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site({ 'default-max-query-length': '0' });
        same((await site.get('labels', lab.range(300 * day))).status, 200, 'with 0');
        const refused = await lab.site({ 'default-max-query-length': '2d' }).then(
          () => 'started',
          (error: unknown) => String(error),
        );
        expect(refused.includes('default-max-query-length'), refused);
      },
    },
    {
      lines: '481',
      says: 'an `offset` of the query is taken off first, and several tenants are held to the least limit that is not 0',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site({
          'tenant-limits':
            '{"1":{"max_query_length":"2h"},"2":{"max_query_length":"6h"},"3":{"max_query_length":"0"}}',
        });
        const status = async (query: string, orgId: string): Promise<number> =>
          (
            await site.get(
              'query_range',
              { query, ...lab.range(4 * hourMs), step: '600' },
              { 'x-scope-orgid': orgId },
            )
          ).status;
        same(await status(selector, '2'), 200, 'one tenant');
        same(await status(selector, '1|2|3'), 400, 'several tenants');
        same(await status(`sum(rate(${selector}[5m] offset 9h))`, '2'), 200, 'with an offset');
      },
    },
    {
      lines: '406, 482',
      says: 'more than 11,000 steps are 400 before any call, for logs and metrics',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site();
        for (const query of [selector, `sum(rate(${selector}[5m]))`]) {
          const text =
            '400 exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter';
          const { start, end } = { start: String(1_790_000_000), end: String(1_790_011_001) };
          same(errorOf(await site.get('query_range', { query, start, end, step: '1' })), text, query);
          const fits = await site.get('query_range', { query, start, end: String(1_790_011_000), step: '1' });
          same(fits.status, 200, 'with 11,000');
          site.relay.forget();
          await site.get('query_range', { query, start, end, step: '1' });
          same(site.called, [], 'calls');
        }
      },
    },
    {
      lines: '407, 523',
      says: 'more series than `-max-stats-query-series` are 400, at an instant and over a range',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(
          Array.from({ length: 12 }, (_, at) => linesOf({ app: 'web', n: `${at}` }, 1, 1)).flat(),
        );
        const site = await lab.site({ 'max-stats-query-series': '10' });
        const query = `sum by (n) (count_over_time(${selector}[1h]))`;
        for (const path of ['query', 'query_range']) {
          const error = errorOf(
            await site.get(path, { query, ...lab.range(hourMs), time: lab.ago(0), step: '60' }),
          );
          expect(
            error.startsWith('400 maximum number of series (10) reached for a single query'),
            `${path}: ${error}`,
          );
        }
      },
    },
    {
      lines: '407',
      says: 'Logs Drilldown gets the busiest series in the place of that error, and a warning',
      probe: async (lab) => {
        await lab.push(
          Array.from({ length: 30 }, (_, at) =>
            linesOf({ app: 'web', n: `p${at}` }, at + 1, 30 * minuteMs),
          ).flat(),
        );
        const site = await lab.site({ 'max-stats-query-series': '5' });
        const headers = { 'x-query-tags': 'Source=grafana-lokiexplore-app' };
        const query = `sum by (n) (count_over_time(${selector}[2h]))`;
        const busiest = ['p25', 'p26', 'p27', 'p28', 'p29'];
        for (const path of ['query', 'query_range']) {
          const params = { query, ...lab.range(hourMs), time: lab.ago(0), step: '60' };
          const answer = await site.json(path, params, headers);
          expect(
            answer.warnings?.some((text) => text.endsWith('returning partial results')) === true,
            'no warning',
          );
          const shown = seriesOf(answer).map(({ metric }) => metric['n'] ?? '');
          same(shown.sort(), busiest, path);
        }
      },
    },
    {
      lines: '93, 409',
      says: 'values of a label over `-label-values-max-response-bytes` are Loki’s ResourceExhausted with 500; a tenant can have more',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(
          Array.from({ length: 40 }, (_, at) =>
            linesOf({ app: `name-${at}-${'x'.repeat(20)}` }, 1, 1),
          ).flat(),
        );
        const site = await lab.site({ 'label-values-max-response-bytes': '500' });
        const error = errorOf(await site.get('label/app/values', lab.range(hourMs)));
        expect(error.startsWith('500 rpc error: code = ResourceExhausted desc = grpc:'), error);
        const raised = await lab.site({
          'label-values-max-response-bytes': '500',
          'tenant-limits': JSON.stringify({ [lab.orgId]: { label_values_max_response_bytes: 100_000 } }),
        });
        same(
          (await raised.get('label/app/values', lab.range(hourMs))).status,
          200,
          'with a limit of its own',
        );
      },
    },
    {
      lines: '410, 548',
      says: 'a metric evaluated from more rows than `-manual-range-metric-row-limit` is 502',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 50, 30 * minuteMs, (at) => `a=${at}`));
        const site = await lab.site({ 'manual-range-metric-row-limit': '10' });
        const query = `quantile_over_time(0.9, ${selector} | logfmt --strict | unwrap a [5m]) by (app)`;
        const error = errorOf(await site.get('query_range', { query, ...lab.range(hourMs), step: '60' }));
        expect(error.startsWith('502 manual range metric row limit exceeded'), error);
      },
    },
    {
      lines: '411',
      says: 'a template that makes too much is 400, and so is a binary expression that is too large',
      isQuick: true,
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site();
        const query = `${selector} | line_format "{{ repeat 70000 \\"x\\" }}"`;
        const line = errorOf(await site.get('query_range', { query, ...lab.range(hourMs) }));
        expect(/^400 line_format .+ limit exceeded$/.test(line), line);
        const sum = Array.from({ length: 1_100 }, () => 'vector(1)').join(' + ');
        const binary = errorOf(await site.get('query', { query: sum, time: lab.ago(0) }));
        expect(binary.startsWith('400'), binary);
      },
    },
    {
      lines: '412, 539',
      says: 'over `-max-concurrent` requests a request is 503 `too many concurrent queries` with `Retry-After: 5`',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site({ 'max-concurrent': '1' });
        site.relay.meddle = () => ({ waitMs: 300 });
        const replies = await Promise.all(
          [1, 2, 3, 4].map((at) =>
            site.get('query_range', { query: selector, ...lab.range(hourMs + at * minuteMs) }),
          ),
        );
        const refused = replies.find(({ status }) => status === 503);
        same(
          [errorOf(refused ?? { status: 0, headers: {}, text: '' }), refused?.headers['retry-after']],
          ['503 too many concurrent queries', '5'],
          'the refusal',
        );
      },
    },
    {
      lines: '413, 543',
      says: 'a heavy call that waits longer than `-backend-heavy-query-queue-wait` is 429, with the limit in its text',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 30, 20 * hourMs));
        const site = await lab.site({
          'backend-max-concurrent-heavy-queries': '1',
          'backend-heavy-query-queue-wait': '300ms',
          // Listings share the queue, and with few slots at the backend they would be rejected first.
          'backend-max-concurrent-metadata-scans': '0',
        });
        site.relay.meddle = ({ path }) => (/stats_query|\/query$/.test(path) ? { waitMs: 2_000 } : undefined);
        const ask = (word: string): ReturnType<typeof site.get> =>
          site.get('query', { query: `sum(count_over_time(${selector} |= "${word}" [20h]))` });
        const texts = (await Promise.all(['1', '2', '3'].map(ask))).map(errorOf);
        const refused = texts.find((text) => text.includes('heavy VictoriaLogs queries')) ?? texts.join();
        expect(
          refused.startsWith(
            '429 too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries=1',
          ),
          refused,
        );
      },
    },
    {
      lines: '413, 501, 543',
      says: 'the newest lines of a long range are not heavy: they come while others hold all places of heavy calls',
      probe: async (lab) => {
        await lab.push([
          ...linesOf({ app: 'web' }, 30, 20 * hourMs),
          ...linesOf({ app: 'old' }, 150, 40 * hourMs),
        ]);
        const site = await lab.site({
          'backend-max-concurrent-heavy-queries': '1',
          'backend-heavy-query-queue-wait': '400ms',
        });
        site.relay.meddle = ({ path, args }) =>
          /stats_query|\/query$/.test(path) && args.get('query')?.includes('web') === true
            ? { waitMs: 4_000 }
            : undefined;
        const slow = site.get('query', { query: `sum(count_over_time(${selector} |= "1" [30h]))` });
        await new Promise((resolve) => setTimeout(resolve, 300));
        const reply = await site.get('query_range', {
          query: '{app="old"}',
          limit: '100',
          ...lab.range(48 * hourMs),
        });
        same(reply.status, 200, `the status: ${errorOf(reply).slice(0, 200)}`);
        await slow;
      },
    },
    {
      lines: '414, 544',
      says: 'a long listing that waits too long for a place of scans is 429, with the limit in its text',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 30, 20 * hourMs));
        const site = await lab.site({
          'backend-max-concurrent-metadata-scans': '1',
          'backend-heavy-query-queue-wait': '300ms',
          'metadata-inventory-parallelism': '0',
        });
        site.relay.meddle = ({ path }) => (path.includes('stream') ? { waitMs: 2_000 } : undefined);
        const texts = (
          await Promise.all(
            [1, 2, 3].map((at) =>
              site.get('series', { 'match[]': selector, ...lab.range(20 * hourMs + at * hourMs) }),
            ),
          )
        ).map(errorOf);
        const refused = texts.find((text) => text.startsWith('429')) ?? texts.join().slice(0, 300);
        expect(
          /^429 too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans=1 per replica/.test(
            refused,
          ),
          refused,
        );
      },
    },
  ],
};
