import { hourMs, linesOf, minuteMs, until, type Lab } from './lab.js';
import type { Params, Site } from './site.js';
import { expect, same, type Claim, type Section } from './section.js';
import { openTail, refusedTail } from './tails.js';

const selector = '{app="web"}';

async function filled(lab: Lab, flags: Readonly<Record<string, string>> = {}): Promise<Site> {
  await lab.push([
    ...linesOf({ app: 'web', env: 'prod' }, 20, 30 * minuteMs, (at) => `{"status":"${200 + (at % 2)}"}`),
    ...linesOf({ app: 'shop', env: 'test' }, 5, 30 * minuteMs),
    ...linesOf({ app: 'talk' }, 40, 30 * minuteMs, (at) => `served request ${at} in ${at * 3} ms`),
  ]);
  return lab.site(flags);
}

/** A route of the read API: its request, the content of its response, and the backend calls. */
interface ReadRoute {
  readonly line: string;
  readonly path: string;
  readonly params?: Params;
  readonly holds: RegExp;
  readonly calls: readonly string[];
  readonly methods?: readonly string[];
  readonly differs?: string;
}

const ownCalls = 'Some listings and statistics ask other routes of VictoriaLogs';
const query = { query: selector };
const readRoutes: readonly ReadRoute[] = [
  {
    line: '219',
    path: 'query_range',
    params: query,
    holds: /"resultType":"streams"/,
    calls: ['query'],
    methods: ['GET', 'POST'],
  },
  {
    line: '220',
    path: 'query',
    params: { query: `sum(rate(${selector}[5m]))` },
    holds: /"resultType":"vector"/,
    calls: ['query', 'stats_query'],
    methods: ['GET', 'POST'],
  },
  { line: '221', path: 'labels', holds: /"data":\["app","env"/, calls: ['stream_field_names', 'streams'] },
  { line: '223', path: 'series', params: { 'match[]': selector }, holds: /"app":"web"/, calls: ['streams'] },
  {
    line: '222',
    path: 'label/app/values',
    holds: /"data":\["shop","talk","web"\]/,
    calls: ['stream_field_values'],
  },
  {
    line: '224',
    path: 'index/stats',
    params: query,
    holds: /"entries":20/,
    calls: ['stats_query', 'streams'],
    differs: ownCalls,
  },
  {
    line: '225',
    path: 'index/volume',
    params: { ...query, targetLabels: 'app' },
    holds: /"metric":\{"app":"web"\}/,
    calls: ['stats_query', 'query', 'streams'],
    differs: ownCalls,
  },
  {
    line: '226',
    path: 'index/volume_range',
    params: { ...query, targetLabels: 'app', step: '300' },
    holds: /"resultType":"matrix"/,
    calls: ['stats_query', 'query', 'streams'],
    differs: ownCalls,
  },
  {
    line: '227',
    path: 'detected_fields',
    params: query,
    holds: /"label":"status"/,
    calls: ['query'],
    differs: ownCalls,
  },
  {
    line: '228',
    path: 'detected_field/status/values',
    params: query,
    holds: /"200"/,
    calls: ['query'],
    differs: ownCalls,
  },
  {
    line: '229',
    path: 'detected_labels',
    params: query,
    holds: /"label":"app"/,
    calls: ['streams'],
    differs: ownCalls,
  },
  { line: '230', path: 'patterns', params: { query: '{app="talk"}' }, holds: /"pattern":/, calls: ['query'] },
];

function routeClaim({ line, path, params = {}, holds, calls, methods = ['GET'], differs }: ReadRoute): Claim {
  return {
    lines: line,
    says: `\`${methods.join(', ')} /loki/api/v1/${path}\`, and the routes of the backend that it asks`,
    ...(differs === undefined ? {} : { differs }),
    probe: async (lab) => {
      const site = await filled(lab);
      for (const method of methods)
        for (const prefix of ['/loki', '/ref']) {
          const range = { ...lab.range(hourMs), time: lab.ago(0) };
          const { status, text } = await site.send(method, `${prefix}/api/v1/${path}`, {
            ...params,
            ...range,
          });
          expect(status === 200 && holds.test(text), `${method} ${prefix}: ${status} ${text.slice(0, 300)}`);
        }
      const asked = site.called.filter((call) => calls.includes(call));
      expect(asked.length > 0, `the backend was asked ${site.called.join()}`);
      if (differs !== undefined)
        expect(!site.called.includes('hits'), 'hits of the backend are asked, as the specification has it');
    },
  };
}

const deletion = { query: selector, start: '', end: '' };
const confirmed = { 'x-delete-confirmation': 'true' };

export const reading: Section = {
  title: 'Routes of logs, and deletions',
  claims: [
    ...readRoutes.map(routeClaim),
    {
      lines: '231',
      says: '`GET /loki/api/v1/format_query` lays a query out and asks the backend nothing',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site();
        same(
          (await site.json('format_query', { query: '{app="a"}|="b"' })).data,
          '{app="a"} |= "b"',
          'the query',
        );
        same(site.called, [], 'calls');
      },
    },
    {
      lines: '232, 338',
      says: '`/loki/api/v1/tail` is a WebSocket with the lines as they come',
      probe: async (lab) => {
        const site = await lab.site();
        const client = await openTail(site, { query: selector });
        await lab.push([{ labels: { app: 'web' }, line: 'live', agoMs: 0 }]);
        same((await client.untilLines(1))[0], 'live', 'the line');
        client.socket.terminate();
      },
    },
    {
      lines: '232, 331',
      says: 'the `Origin` of a browser is refused unless `-tail.allowed-origins` has it',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site({ 'tail.allowed-origins': 'https://grafana.example' });
        const other = await refusedTail(site, query, { origin: 'https://other.example' });
        same(other.slice(0, 3), '403', 'the status for another origin');
        same(
          await refusedTail(site, query, { origin: 'https://grafana.example' }),
          'accepted',
          'the one allowed',
        );
        same(await refusedTail(site, query), 'accepted', 'without an origin');
      },
    },
    {
      lines: '232, 326',
      says: 'a tail has one tenant',
      isQuick: true,
      probe: async (lab) => {
        const refused = await refusedTail(await lab.site(), query, { 'x-scope-orgid': 'a|b' });
        same(refused.slice(0, 3), '400', 'the status');
      },
    },
    {
      lines: '166, 242',
      says: 'labels, values and series without times reach back `-metadata-default-lookback`; 0 leaves that to Loki',
      probe: async (lab) => {
        await lab.push([
          { labels: { app: 'new' }, line: 'x', agoMs: minuteMs },
          { labels: { app: 'old' }, line: 'x', agoMs: 10 * hourMs },
        ]);
        for (const [lookback, found] of [
          ['12h', ['new', 'old']],
          ['2h', ['new']],
        ] as const) {
          const site = await lab.site({ 'metadata-default-lookback': lookback });
          same((await site.json('label/app/values')).data, found, `values with ${lookback}`);
          const series = (await site.json('series', { 'match[]': '{app=~".+"}' })).data as { app: string }[];
          same(series.map(({ app }) => app).sort(), found, `series with ${lookback}`);
        }
        same(
          (await (await lab.site({ 'metadata-default-lookback': '0' })).get('labels')).status,
          200,
          'with 0',
        );
      },
    },
    {
      lines: '243, 571',
      says: 'fields of lines do not come among the labels, and older backends are asked for fields in place of stream fields',
      missing: 'VictoriaLogs without `stream_field_names`',
      probe: async (lab) => {
        const site = await filled(lab);
        const names = (await site.json('labels', lab.range(hourMs))).data as readonly string[];
        same(names.includes('status'), false, 'whether a field is a label');
        const old = await lab.site({ 'metadata-inventory-parallelism': '0' });
        old.relay.meddle = ({ path }) =>
          path.includes('/stream') ? { status: 400, body: 'unsupported path requested' } : undefined;
        same((await old.get('labels', lab.range(hourMs))).status, 502, 'labels of an old backend');
      },
    },
    {
      lines: '10, 251-253, 334',
      says: '`POST /loki/api/v1/delete` deletes with a confirmation, and logs tenant, query, range and client at WARN',
      probe: async (lab) => {
        const site = await filled(lab);
        const sent = await site.send('POST', 'delete', { query: selector, ...lab.range(hourMs) }, confirmed);
        same(sent.status, 204, 'the status');
        const record = site.log.records.find(
          (each) => each.get('severity.text') === 'WARN' && JSON.stringify([...each]).includes('delet'),
        );
        const text = JSON.stringify([...(record ?? [])]);
        for (const part of [lab.orgId, 'web', '127.0.0.1'])
          expect(text.includes(part), `no ${part} in ${text}`);
        await until('the deletion', async () => {
          const fresh = await lab.site();
          return (await fresh.entries({ query: selector, ...lab.range(hourMs) })).length === 0;
        });
        same(
          (await site.entries({ query: '{app="shop"}', ...lab.range(hourMs) })).length,
          5,
          'other streams',
        );
      },
    },
    {
      lines: '251',
      says: 'a deletion calls `/select/logsql/delete` of the backend',
      differs: 'A deletion is a task of VictoriaLogs',
      probe: async (lab) => {
        const site = await filled(lab);
        await site.send('POST', 'delete', { query: selector, ...lab.range(hourMs) }, confirmed);
        await until('the call', () => site.called.includes('/delete/run_task'));
      },
    },
    ...(
      [
        ['the header', {}, {}],
        ['specific streams: not `{}`', { query: '{}' }, confirmed],
        ['specific streams: not `*`', { query: '*' }, confirmed],
        ['a start', { start: undefined }, confirmed],
        ['an end', { end: undefined }, confirmed],
        ['30 days at most', { start: 'old' }, confirmed],
      ] as const
    ).map(([what, change, headers]): Claim => ({
      lines: '253',
      says: `a deletion needs ${what}`,
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site();
        const given = { ...deletion, ...lab.range(hourMs), ...change };
        const params = { ...given, start: given.start === 'old' ? lab.ago(31 * 24 * hourMs) : given.start };
        const sent = await site.send(
          'POST',
          'delete',
          Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Params,
          headers,
        );
        same([sent.status, site.called], [400, []], `the status, and calls: ${sent.text}`);
      },
    })),
    {
      lines: '253',
      says: 'a deletion is of the tenant that asks',
      probe: async (lab) => {
        const site = await filled(lab);
        const other = lab.another();
        const headers = { ...confirmed, 'x-scope-orgid': String(other) };
        await lab.push(linesOf({ app: 'web' }, 3, minuteMs), other);
        const sent = await site.send('POST', 'delete', { query: selector, ...lab.range(hourMs) }, headers);
        same(sent.status, 204, 'the status');
        await until('the deletion', async () => {
          const fresh = await lab.site({}, { orgId: String(other) });
          return (await fresh.entries({ query: selector, ...lab.range(hourMs) })).length === 0;
        });
        same(
          (await site.entries({ query: selector, ...lab.range(hourMs) })).length,
          20,
          'lines of the other',
        );
      },
    },
    {
      lines: '17, 49, 550',
      says: 'an answer of patterns has 1000 of them at most',
      probe: async (lab) => {
        const custom = Array.from({ length: 1100 }, (_, at) => `pattern ${at} <_>`);
        const site = await lab.site({ 'patterns-custom': JSON.stringify(custom) });
        const { data } = await site.json('patterns', { query: selector, ...lab.range(hourMs) });
        same((data as unknown[]).length, 1000, 'patterns');
      },
    },
    {
      lines: '50, 178',
      says: 'with `-patterns-enabled=false` the route is a success without data',
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site({ 'patterns-enabled': 'false' });
        const answer = await site.json('patterns', { query: selector, ...lab.range(hourMs) });
        same([answer.status, answer.data], ['success', []], 'the answer');
      },
    },
    {
      lines: '51, 180-181',
      says: 'patterns of `-patterns-custom` and `-patterns-custom-file` come first in every answer',
      probe: async (lab) => {
        const site = await filled(lab, { 'patterns-custom': 'one <_>\ntwo <_>' });
        const { data } = await site.json('patterns', { query: '{app="talk"}', ...lab.range(hourMs) });
        const texts = (data as { pattern: string }[]).map(({ pattern }) => pattern);
        same(texts.slice(0, 2), ['one <_>', 'two <_>'], 'the first ones');
        expect(texts.length > 2, 'there are no others');
      },
    },
  ],
};
