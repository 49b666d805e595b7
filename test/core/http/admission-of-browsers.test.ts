import test, { type ExecutionContext } from 'ava';
import { once } from 'node:events';
import { request } from 'undici';
import { WebSocket } from 'ws';
import type { UpgradeHandler } from '../../../core/kernel/plugin/contract.js';
import type { ServerOptions } from '../../../core/base/options.gen.js';
import { defineEndpoint, type OwnRoute } from '../../../core/plugin/index.js';
import { makePipeline, withPipeline, withProxy } from '../../../core/testing/index.js';
import { routes } from '../../../core/wire/routes-table.js';
import { telling } from './fixtures.js';

type Headers = Readonly<Record<string, string>>;
type Ask = (
  method: string,
  path: string,
  headers: Headers,
) => Promise<readonly [status: number, text: string]>;

/** A proxy with every built-in route and one route of a site plugin. */
async function withEveryRoute(
  server: Partial<ServerOptions>,
  use: (main: Ask, admin: Ask, url: string) => Promise<void>,
): Promise<void> {
  const served = routes.filter(({ listener }) => listener !== 'workers');
  const own: OwnRoute = { id: 'own', path: '/site/own', methods: ['GET', 'POST'], listener: 'admin' };
  const tail: UpgradeHandler = async (call) => (await call.accept()).close(1000, '');
  const endpoint = defineEndpoint({
    name: 'fixture',
    summary: 'Every route.',
    servesAdmin: true,
    ownRoutes: [own, { ...own, id: 'own_main', path: '/site/main', listener: 'main' }],
    create: () => ({
      routes: new Map([...served, own, { id: 'own_main' }].map(({ id }) => [id, telling])),
      upgrades: new Map([['tail', tail]]),
    }),
  });
  const telemetry = { registerInstrumentation: true, logLevel: 'error' } as const;
  await withPipeline(makePipeline({ endpoints: [endpoint], server, telemetry }), async ({ proxy }) => {
    const askOf =
      (base: string): Ask =>
      async (method, path, headers) => {
        const { statusCode, body } = await request(base + path, { method: method as 'GET', headers });
        return [statusCode, await body.text()];
      };
    await use(askOf(proxy.urls.main), askOf(proxy.urls.admin ?? ''), proxy.urls.main);
  });
}

const filled = (path: string): string => path.replace(/\{\w+\}/g, 'x');
const onAdmin = [
  ...routes.filter(({ listener }) => listener === 'admin'),
  { paths: ['/site/own'] as const, methods: ['GET', 'POST'], isOpen: undefined },
];
const rebound = { host: 'rebind.evil.example:3101' };
/** Headers that browsers send from a page of another origin: those of newer browsers, and those of browsers without the newer header. */
const crossSite: readonly Headers[] = [
  { 'sec-fetch-site': 'cross-site', origin: 'http://site.evil.example' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'http://site.evil.example' },
  { origin: 'http://127.0.0.1:8080' },
  { origin: 'null' },
];

test('without a token every route of the admin listener refuses names that a stranger may have pointed here', async (t) => {
  await withEveryRoute({ adminAllowedHosts: ['Logs.Example'] }, async (_main, admin) => {
    for (const { paths, methods } of onAdmin)
      for (const method of methods) {
        const path = filled(paths[0]);
        const [status, text] = await admin(method, path, rebound);
        t.is(status, 403, `${method} ${path}`);
        t.regex(text, /host name rebind\.evil\.example is not allowed; add it to -ui\.allowed-hosts/);
        t.is((await admin(method, path, { host: 'logs.example:80' }))[0], 200, `${method} ${path}`);
      }
  });
});

for (const host of ['127.0.0.1', '10.1.2.3:80', 'LOCALHOST:3101', '[::1]:3101', 'a.localhost', 'ok.example.'])
  test(`the host ${host} is let through`, async (t) => {
    await withEveryRoute(
      { adminAllowedHosts: ['ok.example'], httpAllowedHosts: ['ok.example'] },
      async (main, admin) => {
        t.is((await admin('GET', '/admin/pipeline', { host }))[0], 200);
        t.is((await main('GET', '/loki/api/v1/labels', { host }))[0], 200);
      },
    );
  });

for (const host of [
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'notlocalhost',
  'xok.example',
  '[::1].evil.example',
])
  test(`the host ${host} is refused`, async (t) => {
    await withEveryRoute(
      { adminAllowedHosts: ['ok.example'], httpAllowedHosts: ['ok.example'] },
      async (main, admin) => {
        t.is((await admin('GET', '/admin/pipeline', { host }))[0], 403);
        t.is((await main('GET', '/loki/api/v1/labels', { host }))[0], 403);
      },
    );
  });

test('a page of another origin can ask nothing of the admin listener but the page', async (t) => {
  await withEveryRoute({}, async (_main, admin) => {
    for (const { paths, methods, isOpen } of onAdmin)
      for (const method of methods)
        for (const headers of crossSite) {
          const [status] = await admin(method, filled(paths[0]), headers);
          t.is(status, isOpen === true ? 200 : 403, `${method} ${paths[0]}`);
        }
  });
});

test('the page itself, and clients that are no browsers, ask what they like', async (t) => {
  await withEveryRoute({ adminAllowedHosts: ['logs.example'] }, async (main, admin) => {
    for (const headers of [
      {},
      { 'sec-fetch-site': 'same-origin', origin: 'https://behind.example' },
      { 'sec-fetch-site': 'none' },
      { host: '127.0.0.1:3101', origin: 'http://127.0.0.1:3101' },
      { host: '127.0.0.1:3101', origin: 'https://logs.example' },
    ]) {
      t.is((await admin('POST', '/admin/cache/flush', headers))[0], 200);
      t.is((await admin('POST', '/site/own', headers))[0], 200);
    }
    t.is((await main('POST', '/loki/api/v1/delete', {}))[0], 200);
  });
});

test('on the main listener a page of another origin may read as in Loki, and change nothing', async (t) => {
  const token = { 'x-admin-token': 'secret' };
  await withEveryRoute({ adminAuthToken: 'secret' }, async (main) => {
    for (const headers of crossSite) {
      for (const method of ['GET', 'POST']) {
        t.is((await main(method, '/loki/api/v1/query_range', headers))[0], 200);
        t.is((await main(method, '/debug/explain', { ...headers, ...token }))[0], 200);
      }
      t.is((await main('GET', '/site/main', headers))[0], 200);
      for (const path of [
        '/loki/api/v1/delete',
        '/ref/api/v1/delete',
        '/_cache/set',
        '/_cache/purge',
        '/site/main',
        '/admin/reload',
        '/admin/cache/flush',
      ]) {
        const [status, text] = await main('POST', path, { ...headers, ...token });
        t.is(status, 403, path);
        t.regex(text, /cross-site request refused/);
      }
    }
  });
});

async function tailStatus(url: string, headers: Headers): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail`, { headers });
  const refused = once(socket, 'unexpected-response').then(([sent, response]) => {
    (sent as { destroy(): void }).destroy();
    return (response as { statusCode: number }).statusCode;
  });
  socket.on('error', () => undefined);
  return Promise.race([refused, once(socket, 'open').then(() => 101)]);
}

test('the main listener answers under any name, unless some are listed', async (t) => {
  const statuses = async (server: Partial<ServerOptions>): Promise<readonly number[]> => {
    const seen: number[] = [];
    await withEveryRoute(server, async (main, _admin, url) => {
      for (const path of ['/loki/api/v1/query_range', '/ready', '/metrics'])
        seen.push((await main('GET', path, rebound))[0]);
      seen.push(await tailStatus(url, rebound));
    });
    return seen;
  };
  t.deepEqual(await statuses({}), [200, 200, 200, 101]);
  t.deepEqual(await statuses({ httpAllowedHosts: ['logs.example'] }), [403, 403, 403, 403]);
});

async function adminStatuses(t: ExecutionContext, yaml: string, host: string): Promise<readonly number[]> {
  const seen: number[] = [];
  await withProxy(
    yaml,
    async ({ proxy }) => {
      for (const path of ['/ui/api/pipeline', '/admin/pipeline']) {
        const { statusCode, body } = await request(`${proxy.urls.admin ?? ''}${path}`, { headers: { host } });
        await body.dump();
        seen.push(statusCode);
      }
    },
    { flags: { backend: 'http://127.0.0.1:1' } },
  );
  t.is(seen.length, 2);
  return seen;
}

test('the names that a file gives the page hold for the whole admin listener', async (t) => {
  const yaml = `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
  - use: response-shape
endpoints:
  - use: admin
  - use: ui
    with: { allowedHosts: [logs.example] }
`;
  t.deepEqual(await adminStatuses(t, yaml, 'logs.example'), [200, 200]);
  t.deepEqual(await adminStatuses(t, yaml, 'other.example'), [403, 403]);
});
