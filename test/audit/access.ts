import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent } from 'undici';
import { packageRoot } from '../../core/kernel/options/index.js';
import { hourMs, linesOf, minuteMs, until, type Lab } from './lab.js';
import { ask, errorOf, type Headers, type Site } from './site.js';
import { expect, same, type Section } from './section.js';

const selector = '{app="web"}';

function org(orgId: string): Headers {
  return { 'x-scope-orgid': orgId };
}

let asked = 0;

/** The proxy's backend call for a log query with the headers of a client; each query has a new range, so that nothing is cached. */
async function callWith(lab: Lab, site: Site, headers: Headers): Promise<Site['relay']['calls'][number]> {
  site.relay.forget();
  asked += 1;
  await site.get('query_range', { query: selector, ...lab.range(hourMs + asked) }, headers);
  const call = site.relay.calls.find(({ path }) => path.endsWith('/query'));
  expect(call !== undefined, `the backend was asked ${site.called.join() || 'nothing'}`);
  return call;
}

async function refusal(lab: Lab, flags: Readonly<Record<string, string>>): Promise<string> {
  return lab.site(flags).then(
    () => 'started',
    (error: unknown) => String(error),
  );
}

export const access: Section = {
  title: 'Tenants, identity and secrets',
  claims: [
    {
      lines: '13, 321',
      says: '`0`, `fake` and `default` are the default tenant of the backend, 0:0',
      probe: async (lab) => {
        const site = await lab.site({}, { orgId: undefined });
        for (const headers of [{}, org('0'), org('fake'), org('default')]) {
          const { accountid, projectid } = (await callWith(lab, site, headers)).headers;
          same([accountid ?? '0', projectid ?? '0'], ['0', '0'], JSON.stringify(headers));
        }
      },
    },
    {
      lines: '13, 138, 322',
      says: 'an id of the tenant map is its account and project, before all else',
      probe: async (lab) => {
        const site = await lab.site({
          'tenant-map':
            '{"team":{"account_id":"7","project_id":"8"},"0":{"account_id":"9","project_id":"0"}}',
        });
        const { accountid, projectid } = (await callWith(lab, site, org('team'))).headers;
        same([accountid, projectid], ['7', '8'], 'team');
        same((await callWith(lab, site, org('0'))).headers['accountid'], '9', 'the id 0');
      },
    },
    {
      lines: '139',
      says: '`-tenant-map-file` is YAML or JSON, and wins over the map of the flag for the same id',
      probe: async (lab) => {
        const folder = await lab.folder();
        for (const [name, text] of [
          ['map.yaml', 'a: {account_id: 5, project_id: 0}\n'],
          ['map.json', '{"a":{"account_id":5,"project_id":0}}'],
        ] as const) {
          await writeFile(join(folder, name), text);
          const site = await lab.site({
            'tenant-map-file': join(folder, name),
            'tenant-map': '{"a":{"account_id":1,"project_id":0},"b":{"account_id":2,"project_id":0}}',
          });
          same((await callWith(lab, site, org('a'))).headers['accountid'], '5', name);
          same((await callWith(lab, site, org('b'))).headers['accountid'], '2', 'the id of the flag');
        }
      },
    },
    {
      lines: '327',
      says: 'the file of the tenant map is read again on SIGHUP and when its time has changed; the first cache is emptied',
      probe: async (lab) => {
        const file = join(await lab.folder(), 'map.yaml');
        await writeFile(file, 'a: {account_id: 5, project_id: 0}\n');
        const polled = await lab.site({ 'tenant-map-file': file, 'tenant-map-reload-interval': '100ms' });
        const signalled = await lab.site({ 'tenant-map-file': file, 'tenant-map-reload-interval': '0' });
        for (const site of [polled, signalled]) await callWith(lab, site, org('a'));
        await writeFile(file, 'a: {account_id: 6, project_id: 0}\n');
        await utimes(file, new Date(), new Date(Date.now() + 5_000));
        await until('the poll', async () => {
          polled.relay.forget();
          await polled.get('query_range', { query: selector, ...lab.range(hourMs) }, org('a'));
          return polled.relay.calls.some(({ headers }) => headers['accountid'] === '6');
        });
        signalled.relay.forget();
        await signalled.get('query_range', { query: selector, ...lab.range(hourMs) }, org('a'));
        same(
          signalled.relay.calls.some(({ headers }) => headers['accountid'] === '6'),
          false,
          'without a signal',
        );
        await signalled.proxy.reload();
        same((await callWith(lab, signalled, org('a'))).headers['accountid'], '6', 'after the signal');
      },
    },
    {
      lines: '13, 323',
      says: 'with `-tenant-label` other ids are a filter of streams that no parameter of a client can change, and no account',
      probe: async (lab) => {
        const site = await lab.site({ 'tenant-label': 'team' });
        site.relay.forget();
        await site.get(
          'query_range',
          { query: selector, extra_stream_filters: '{team="b"}', ...lab.range(hourMs) },
          org('a'),
        );
        const call = site.relay.calls.find(({ path }) => path.endsWith('/query'));
        const filter = call?.args.get('extra_stream_filters') ?? '';
        same(filter, '{"team":"a"}', 'the filter');
        same(call?.headers['accountid'] ?? '0', '0', 'the account');
      },
    },
    {
      lines: '324, 416',
      says: '`*` is the default tenant; with `-tenant-label` it is 403 unless `-tenant.allow-global=true`',
      probe: async (lab) => {
        const status = async (flags: Readonly<Record<string, string>>): Promise<number> =>
          (await (await lab.site(flags)).get('labels', lab.range(hourMs), org('*'))).status;
        same(await status({}), 200, 'without a label');
        same(await status({ 'tenant-label': 'team' }), 403, 'with a label');
        same(await status({ 'tenant-label': 'team', 'tenant.allow-global': 'true' }), 200, 'allowed');
      },
    },
    {
      lines: '325, 415',
      says: 'a request without `X-Scope-OrgID` is 401 with `-require-tenant-header=true` or `-auth.enabled=true`',
      probe: async (lab) => {
        for (const flag of ['require-tenant-header', 'auth.enabled']) {
          const site = await lab.site({ [flag]: 'true' }, { orgId: undefined });
          same((await site.get('labels')).status, 401, flag);
          same((await site.get('labels', {}, org('1'))).status, 200, `${flag} with an id`);
        }
      },
    },
    {
      lines: '326',
      says: 'several ids joined by `|` are asked one by one, and their answers merged',
      probe: async (lab) => {
        const [one, two] = [lab.another(), lab.another()];
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs), one);
        await lab.push(linesOf({ app: 'web' }, 3, minuteMs), two);
        const site = await lab.site();
        const params = { query: selector, ...lab.range(hourMs) };
        same((await site.entries(params, org(`${one}|${two}`))).length, 5, 'entries');
        const labels = (await site.json('labels', lab.range(hourMs), org(`${one}|${two}`))).data;
        expect((labels as readonly string[]).includes('app'), 'labels are not merged');
      },
    },
    {
      lines: '8, 170, 328',
      says: 'a certificate and its key turn HTTPS on',
      probe: async (lab) => {
        const file = (name: string): string => join(packageRoot(), 'test/data/tls', name);
        const site = await lab.site({
          'tls-cert-file': file('server.pem'),
          'tls-key-file': file('server.key'),
        });
        const dispatcher = new Agent({ connect: { ca: await readFile(file('ca.pem')) } });
        lab.later(() => dispatcher.destroy());
        expect(site.url.startsWith('https://'), site.url);
        same((await ask(`${site.url}/alive`, { dispatcher })).status, 200, '/alive');
      },
    },
    {
      lines: '171-172, 328',
      says: 'with `-tls-require-client-cert` only clients with a certificate of `-tls-client-ca-file` get in',
      probe: async (lab) => {
        const file = (name: string): string => join(packageRoot(), 'test/data/tls', name);
        const site = await lab.site({
          'tls-cert-file': file('server.pem'),
          'tls-key-file': file('server.key'),
          'tls-client-ca-file': file('ca.pem'),
          'tls-require-client-cert': 'true',
        });
        const ca = await readFile(file('ca.pem'));
        const known = {
          ca,
          cert: await readFile(file('client.pem')),
          key: await readFile(file('client.key')),
        };
        for (const [connect, isKnown] of [
          [known, true],
          [{ ca }, false],
        ] as const) {
          const dispatcher = new Agent({ connect });
          lab.later(() => dispatcher.destroy());
          const got = await ask(`${site.url}/alive`, { dispatcher }).then(
            ({ status }) => status === 200,
            () => false,
          );
          same(got, isKnown, `with${isKnown ? '' : 'out'} a certificate`);
        }
      },
    },
    {
      lines: '329',
      says: '`-backend-basic-auth` goes to the backend',
      probe: async (lab) => {
        const site = await lab.site({ 'backend-basic-auth': 'ann:secret' });
        const { authorization } = (await callWith(lab, site, {})).headers;
        same(authorization, `Basic ${btoa('ann:secret')}`, 'the header');
      },
    },
    {
      lines: '329',
      says: '`-forward-authorization` and `-forward-headers` pass headers of the client on, and nothing else does',
      probe: async (lab) => {
        const sent = { authorization: 'Bearer b', 'x-team': 't' };
        const seen = async (flags: Readonly<Record<string, string>>): Promise<unknown> => {
          const { headers } = await callWith(lab, await lab.site(flags), sent);
          return [headers['authorization'] ?? null, headers['x-team'] ?? null];
        };
        same(await seen({}), [null, null], 'by default');
        same(await seen({ 'forward-authorization': 'true' }), ['Bearer b', null], 'the authorization');
        same(await seen({ 'forward-headers': 'Authorization,X-Team' }), ['Bearer b', 't'], 'by name');
      },
    },
    {
      lines: '330, 350',
      says: 'with `-metrics.trust-proxy-headers` the end user is named by four headers in their order, then the tenant, then the address',
      probe: async (lab) => {
        const site = await lab.site({ 'metrics.trust-proxy-headers': 'true' }, { orgId: undefined });
        const sent: Headers[] = [];
        let all: Headers = {};
        for (const [name, value] of [
          ['x-forwarded-for', '10.1.1.1'],
          ['x-scope-orgid', '7'],
          ['x-auth-request-user', 'd'],
          ['x-webauth-user', 'c'],
          ['x-forwarded-user', 'b'],
          ['x-grafana-user', 'a'],
        ] as const) {
          all = { ...all, [name]: value };
          sent.push(all);
        }
        const ids: unknown[] = [];
        for (const headers of sent) {
          const call = await callWith(lab, site, headers);
          ids.push(call.headers['x-ref-proxy-client-id']);
          expect(call.headers['x-ref-proxy-client-source'] !== undefined, 'the source is not told');
        }
        same(ids, ['10.1.1.1', '7', 'd', 'c', 'b', 'a'], 'the clients');
      },
    },
    {
      lines: '330, 351',
      says: 'credentials of a datasource are `auth.*` of the log, and no end user',
      probe: async (lab) => {
        const site = await lab.site({
          'metrics.trust-proxy-headers': 'true',
          'log-buffered': 'false',
          'log-rate-threshold': '0',
        });
        await site.get('labels', {}, { authorization: `Basic ${btoa('grafana:secret')}` });
        const record = await site.log.find((each) => each.get('ref.request.type') === 'labels');
        same(record.get('auth.principal'), 'grafana', 'auth.principal');
        expect(record.get('enduser.id') !== 'grafana', 'it is the end user');
      },
    },
    {
      lines: '332',
      says: 'peers without `-peer-auth-token` keep the process from starting, unless `-peer-insecure-ip-allowlist=true`',
      probe: async (lab) => {
        const peers = {
          'peer-self': '127.0.0.1:1',
          'peer-discovery': 'static',
          'peer-static': '127.0.0.1:1',
        };
        expect((await refusal(lab, peers)).includes('peer-auth-token'), 'it starts');
        same(
          await refusal(lab, { ...peers, 'peer-insecure-ip-allowlist': 'true' }),
          'started',
          'with the list',
        );
      },
    },
    {
      lines: '140-142, 480',
      says: 'limits of tenants take `d`, `w` and `y`, and the ones of a tenant come before the defaults and the flag',
      probe: async (lab) => {
        const site = await lab.site({
          'tenant-limits': '{"1":{"max_query_length":"2d"},"2":{"max_query_length":"0"}}',
          'tenant-default-limits': '{"max_query_length":"1w"}',
          'default-max-query-length': '24h',
        });
        const fails = async (orgId: string, days: number): Promise<boolean> =>
          (await site.get('labels', lab.range(days * 24 * hourMs), org(orgId))).status === 400;
        same([await fails('1', 1.9), await fails('1', 2.1)], [false, true], 'of the tenant');
        same([await fails('2', 6.9), await fails('2', 7.1)], [false, true], 'of all');
        const flagged = await lab.site({ 'default-max-query-length': '24h' });
        const error = errorOf(await flagged.get('labels', lab.range(25 * hourMs)));
        expect(error.startsWith('400'), error);
        const years = await lab.site({ 'tenant-default-limits': '{"max_query_length":"1y"}' });
        same((await years.get('labels', lab.range(364 * 24 * hourMs))).status, 200, 'a year');
      },
    },
    {
      lines: '140, 273, 554',
      says: 'limits that are published are enforced',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 3, minuteMs));
        const site = await lab.site({
          'tenant-limits': JSON.stringify({ [lab.orgId]: { volume_enabled: false } }),
        });
        const published = (await site.get('/config/tenant/v1/limits')).text;
        const volume = await site.get('index/volume', { query: selector, ...lab.range(hourMs) });
        expect(
          !published.includes('volume_enabled: false') || volume.status === 404,
          `volume_enabled: false is published, and volumes are ${volume.status}`,
        );
      },
    },
  ],
};
