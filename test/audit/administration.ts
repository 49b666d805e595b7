import { parse } from 'yaml';
import { withVmalert } from '../plugins/rules/fake-vmalert.js';
import { hourMs, linesOf, minuteMs, until } from './lab.js';
import { ask } from './site.js';
import { expect, same, type Claim, type Section } from './section.js';

const selector = '{app="web"}';
interface RulesRoute {
  readonly lines: string;
  readonly path: string;
  readonly without: string;
  readonly holds: RegExp;
}

const emptyRules = '{"status":"success","data":{"groups":[]},"errorType":"","error":""}';
const rulesRoutes: readonly RulesRoute[] = [
  { lines: '11, 265, 155', path: '/loki/api/v1/rules', without: '{}\n', holds: /^rules\/\S+:\n/m },
  { lines: '268', path: '/api/prom/rules', without: '{}\n', holds: /^rules\/\S+:\n/m },
  { lines: '268', path: '/api/pm/rules', without: '{}\n', holds: /^rules\/\S+:\n/m },
  {
    lines: '266',
    path: '/loki/api/v1/rules/rules%2Fcheckout.yml',
    without: '',
    holds: /^rules\/checkout\.yml:\n/m,
  },
  {
    lines: '268, 568',
    path: '/api/pm/rules/rules%2Fcheckout.yml',
    without: '',
    holds: /^rules\/checkout\.yml:\n/m,
  },
  {
    lines: '267',
    path: '/loki/api/v1/rules/rules%2Flogs.yml/logs%2Ferrors',
    without: '',
    holds: /^name: logs\/errors$/m,
  },
  { lines: '269, 155', path: '/prometheus/api/v1/rules', without: emptyRules, holds: /"groups":\[\{/ },
  { lines: '269', path: '/pm/api/v1/rules', without: emptyRules, holds: /"groups":\[\{/ },
  { lines: '11, 270', path: '/loki/api/v1/alerts', without: '"alerts":[]', holds: /"alerts":\[\{/ },
  { lines: '271, 568', path: '/api/pm/alerts', without: '"alerts":[]', holds: /"alerts":\[\{/ },
  { lines: '272', path: '/pm/api/v1/alerts', without: '"alerts":[]', holds: /"alerts":\[\{/ },
];

function rulesClaim({ lines, path, without, holds }: RulesRoute): Claim {
  return {
    lines,
    says: `\`GET ${decodeURIComponent(path)}\` shows what the service of rules and alerts has, and an empty answer without one`,
    probe: async (lab) => {
      await withVmalert(async ({ url }) => {
        for (const flags of [{ 'ruler-backend': url }, { 'ruler-backend': url, 'alerts-backend': url }]) {
          const { status, text } = await (await lab.site(flags)).get(path);
          expect(status === 200 && holds.test(text), `${status} ${text.slice(0, 300)}`);
        }
      });
      const reply = await (await lab.site()).get(path);
      if (without !== '') expect(reply.text.includes(without), `without a service: ${reply.text}`);
    },
  };
}

export const administration: Section = {
  title: 'Rules, settings and administration',
  claims: [
    {
      lines: '10, 259, 418',
      says: '`POST /loki/api/v1/push` is 405',
      probe: async (lab) => {
        const site = await lab.site();
        for (const path of ['push', '/ref/api/v1/push'])
          same((await site.send('POST', path, {})).status, 405, path);
        same(site.called, [], 'calls');
      },
    },
    ...rulesRoutes.map(rulesClaim),
    {
      lines: '11, 277',
      says: 'rules and alerts cannot be written',
      probe: async (lab) => {
        const site = await lab.site();
        for (const [method, path] of [
          ['POST', 'rules/a'],
          ['DELETE', 'rules/a'],
          ['DELETE', 'rules/a/b'],
          ['POST', 'alerts'],
        ] as const)
          same((await site.send(method, path, {})).status, 405, `${method} ${path}`);
      },
    },
    {
      lines: '168, 270',
      says: '`-alerts-backend` is asked for alerts, and the rules backend without it',
      probe: async (lab) => {
        await withVmalert(async (rules) => {
          await withVmalert(async (alerts) => {
            const site = await lab.site({ 'ruler-backend': rules.url, 'alerts-backend': alerts.url });
            await site.get('alerts');
            same([rules.received.length, alerts.received.length], [0, 1], 'what each was asked');
          });
        });
      },
    },
    {
      lines: '140, 273, 554',
      says: '`/config/tenant/v1/limits` is YAML of the published fields, with what the tenant limits say',
      probe: async (lab) => {
        const site = await lab.site({
          'tenant-default-limits': '{"max_query_length":"9d","max_query_range":"3d"}',
          'tenant-limits': JSON.stringify({ [lab.orgId]: { max_query_length: '1w' } }),
          'tenant-limits-allow-publish': 'max_query_length,max_query_range',
        });
        const limits = parse((await site.get('/config/tenant/v1/limits')).text) as Record<string, unknown>;
        same(limits, { max_query_length: '1w', max_query_range: '3d' }, 'the limits');
      },
    },
    {
      lines: '273, 326, 417',
      says: '`/config/tenant/v1/limits` refuses several tenants with 400',
      probe: async (lab) => {
        const site = await lab.site();
        same(
          (await site.get('/config/tenant/v1/limits', {}, { 'x-scope-orgid': 'a|b' })).status,
          400,
          'the status',
        );
      },
    },
    {
      lines: '274',
      says: '`/config` is YAML',
      probe: async (lab) => {
        const { status, text } = await (await lab.site()).get('/config');
        expect(status === 200 && typeof parse(text) === 'object', `${status} ${text}`);
      },
    },
    {
      lines: '275, 554',
      says: '`/loki/api/v1/drilldown-limits` tells what Logs Drilldown may use, with the published limits',
      probe: async (lab) => {
        const { text } = await (await lab.site()).get('drilldown-limits');
        const { limits } = JSON.parse(text) as { limits?: Readonly<Record<string, unknown>> };
        expect(limits !== undefined && 'volume_enabled' in limits, `no limits in ${text.slice(0, 300)}`);
      },
    },
    {
      lines: '283-284',
      says: '`/ready` and `/alive` are 200 while the backend and the process are well',
      probe: async (lab) => {
        const site = await lab.site();
        await until('readiness', async () => (await site.get('/ready')).status === 200);
        same((await site.get('/alive')).status, 200, '/alive');
      },
    },
    {
      lines: '283, 420',
      says: '`/ready` is 503 while the backend is not well',
      probe: async (lab) => {
        const site = await lab.site();
        site.relay.meddle = () => ({ isCut: true });
        await until('a 503', async () => (await site.get('/ready')).status === 503);
        same((await site.get('/alive')).status, 200, '/alive');
      },
    },
    {
      lines: '285, 568-569',
      says: '`/loki/api/v1/status/buildinfo` names a build of Loki, the same at all times',
      probe: async (lab) => {
        const site = await lab.site();
        const [first, again] = [
          await site.get('status/buildinfo'),
          await site.get('/ref/api/v1/status/buildinfo'),
        ];
        expect(/"version":"\d+\.\d+/.test(first.text), first.text);
        same(again.text, first.text, 'the other spelling');
      },
    },
    {
      lines: '286, 572',
      says: '`/metrics` exists only with `-server.register-instrumentation=true`',
      probe: async (lab) => {
        same((await (await lab.site()).get('/metrics')).status, 200, 'with it');
        const without = await lab.site({ 'server.register-instrumentation': 'false' });
        same((await without.get('/metrics')).status, 404, 'without it');
        same(
          (await ask(`${without.adminUrl}/admin/cache/flush`, { method: 'POST' })).status,
          404,
          'the flush',
        );
      },
    },
    {
      lines: '194, 286',
      says: 'with `-metrics-listen` the metrics are there and not on the main listener',
      probe: async (lab) => {
        const site = await lab.site({ 'metrics-listen': '127.0.0.1:0' });
        same((await ask(`${site.proxy.urls.metrics ?? ''}/metrics`)).status, 200, 'its own listener');
        same((await site.get('/metrics')).status, 404, 'the main listener');
      },
    },
    {
      lines: '286',
      says: '`-server.metrics-max-concurrency` bounds scrapes at a time',
      probe: async (lab) => {
        const site = await lab.site({ 'server.metrics-max-concurrency': '1' });
        const replies = await Promise.all(Array.from({ length: 20 }, () => site.get('/metrics')));
        const statuses = [...new Set(replies.map(({ status }) => status))].sort();
        same(statuses, [200, 429], 'the statuses of twenty at once');
      },
    },
    {
      lines: '287, 193',
      says: '`/debug/queries` exists with `-server.enable-query-analytics` only, on the admin listener',
      probe: async (lab) => {
        const [on, off] = [await lab.site({ 'server.enable-query-analytics': 'true' }), await lab.site()];
        same((await ask(`${on.adminUrl}/debug/queries`)).status, 200, 'on');
        same((await on.get('/debug/queries')).status, 404, 'on the main listener');
        same((await ask(`${off.adminUrl}/debug/queries`)).status, 404, 'off');
      },
    },
    {
      lines: '288',
      says: '`/debug/pprof/` exists with `-server.enable-pprof` only',
      probe: async (lab) => {
        const [on, off] = [await lab.site({ 'server.enable-pprof': 'true' }), await lab.site()];
        same((await ask(`${on.adminUrl}/debug/pprof/`)).status, 200, 'on');
        same((await ask(`${off.adminUrl}/debug/pprof/`)).status, 404, 'off');
      },
    },
    {
      lines: '289',
      says: '`POST /admin/cache/flush` empties the caches in memory and on disk',
      probe: async (lab) => {
        const folder = await lab.folder();
        await lab.push(
          linesOf({ app: 'web' }, 3, 5 * minuteMs).map((line) => ({
            ...line,
            agoMs: line.agoMs + 3 * hourMs,
          })),
        );
        const site = await lab.site({ 'disk-cache-path': `${folder}/cache.db` });
        const params = { query: selector, ...lab.range(4 * hourMs, 2 * hourMs) };
        await site.entries(params);
        site.relay.forget();
        await site.entries(params);
        same(site.called, [], 'calls while it is kept');
        const flushed = await ask(`${site.adminUrl}/admin/cache/flush`, { method: 'POST' });
        same(flushed.status, 200, `the flush, ${flushed.text}`);
        await site.entries(params);
        expect(site.called.length > 0, 'the answer is still kept');
      },
    },
    {
      lines: '291, 333',
      says: 'with `-server.admin-auth-token` the admin routes are on the main listener, for either header of the token',
      probe: async (lab) => {
        const site = await lab.site({ 'server.admin-auth-token': 'sesame' });
        const flush = async (headers: Readonly<Record<string, string>>): Promise<number> =>
          (await site.send('POST', '/admin/cache/flush', {}, headers)).status;
        same(await flush({}), 401, 'without the token');
        same(await flush({ authorization: 'Bearer wrong' }), 401, 'with another one');
        same(await flush({ authorization: 'Bearer sesame' }), 200, 'as a bearer token');
        same(await flush({ 'x-admin-token': 'sesame' }), 200, 'in X-Admin-Token');
      },
    },
    {
      lines: '291',
      says: 'debug routes on an address that is not loopback need the token, or nothing starts',
      probe: async (lab) => {
        const flags = { 'admin-listen': '0.0.0.0:0', 'server.enable-pprof': 'true' };
        const refused = await lab.site(flags).then(
          () => 'started',
          (error: unknown) => String(error),
        );
        expect(refused.includes('admin-auth-token'), refused);
      },
    },
  ],
};
