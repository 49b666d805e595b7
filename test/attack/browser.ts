import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes, type Route } from '../../core/wire/routes-table.js';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { mirroringPipeline } from '../watch/mirroring.js';
import { Watched } from '../watch/watched.js';
import { Tally, type AttackReport, type AttackSettings } from './tally.js';

/** The headers and target with which a browser sends a request. */
interface Manner {
  readonly name: string;
  /** `HOST` is replaced by the real address. */
  readonly headers: readonly string[];
  /** The request target, if it is not just the path. */
  readonly target?: (path: string) => string;
}

const honest: readonly Manner[] = [
  { name: 'a program', headers: ['Host: HOST'] },
  { name: 'an address of the machine', headers: ['Host: localhost'] },
  { name: 'an address of IPv6', headers: ['Host: [::1]'] },
  {
    name: 'its own page',
    headers: ['Host: HOST', 'Origin: http://HOST', 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Mode: cors'],
  },
  { name: 'a typed address', headers: ['Host: HOST', 'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate'] },
];

const foreignNames = [
  'rebind.evil.example',
  'rebind.evil.example:PORT',
  'EVIL.example',
  'evil.example.',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil-localhost',
  'xlocalhost:PORT',
  'localhost@evil.example',
  'evil.example:80@localhost.x',
  '127.0.0.1.nip.io',
  'xn--lcalhost-7rb.example',
];

/** DNS rebinding: a page whose name now resolves to this machine; its browser treats both as the same origin. */
const rebound: readonly Manner[] = [
  ...foreignNames.map((host): Manner => ({ name: `rebound as ${host}`, headers: [`Host: ${host}`] })),
  ...foreignNames.slice(0, 2).map((host): Manner => ({
    name: `rebound as ${host}, with its origin`,
    headers: [
      `Host: ${host}`,
      `Origin: http://${host}`,
      'Sec-Fetch-Site: same-origin',
      'Sec-Fetch-Mode: cors',
    ],
  })),
  {
    name: 'rebound, by the whole address',
    headers: ['Host: rebind.evil.example'],
    target: (path) => `http://rebind.evil.example${path}`,
  },
];

/** A page of another site: it cannot read the response, and a request that changes something needs no response. */
const crossSite: readonly Manner[] = [
  {
    name: 'another site',
    headers: [
      'Host: HOST',
      'Origin: http://site.evil.example',
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Mode: no-cors',
    ],
  },
  {
    name: 'another site, by a form',
    headers: ['Host: HOST', 'Origin: null', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'],
  },
  { name: 'another site, in an old browser', headers: ['Host: HOST', 'Origin: http://site.evil.example'] },
  { name: 'another site that hides', headers: ['Host: HOST', 'Origin: null'] },
  {
    name: 'another port',
    headers: ['Host: HOST', 'Origin: http://127.0.0.1:1', 'Sec-Fetch-Site: same-site'],
  },
  {
    name: 'another site without an origin',
    headers: ['Host: HOST', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'],
  },
];

const ownName = 'logs.site.example';
const token = 'admin-token-of-this-attack';
const flags = [
  '-listen=127.0.0.1:0',
  '-admin-listen=127.0.0.1:0',
  '-server.register-instrumentation=true',
  '-server.enable-pprof=true',
  '-server.enable-query-analytics=true',
];

/** The relevant requests of a route: read-only ones, and ones that change something. */
interface Target {
  readonly route: Route;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly changes: boolean;
}

const changing: ReadonlySet<string> = new Set(['admin_reload', 'cache_flush', 'delete']);
const targets: readonly Target[] = routes
  .filter(({ listener, id }) => listener === 'admin' || id === 'delete')
  .flatMap((route) =>
    route.methods
      .filter((method) => method === 'GET' || method === 'POST')
      .flatMap((method) =>
        route.paths.map((path) => ({
          route,
          method,
          path: filled(path),
          changes: changing.has(route.id) && method === 'POST',
        })),
      ),
  );

function filled(path: string): string {
  if (path === '/debug/pprof/{profile}') return '/debug/pprof/profile?seconds=0.01';
  const query =
    path.startsWith('/ui/api/') || path.startsWith('/debug/explain') ? '?query=%7Ba%3D%22b%22%7D' : '';
  return path.replace('{name}', 'level').replace('{file}', 'main.js') + query;
}

/**
 * Sends the requests that malicious pages could make through an operator's browser: to every admin route, under foreign host names and from
 * other sites, and to every route of the main listener that changes something.
 */
export async function attackByBrowser({ backendUrl }: AttackSettings): Promise<AttackReport> {
  const tally = new Tally();
  const backend = backendUrl === undefined ? await startDevBackend() : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    // The mirror's routes are attacked, too; it mirrors nothing.
    const file = join(folder, 'pipeline.yaml');
    await writeFile(file, await mirroringPipeline({ url: 'http://127.0.0.1:9', percent: 0.001 }));
    const pipeline = `-pipeline=${file}`;
    const url = backendUrl ?? backend?.url ?? '';
    await withProxy(url, [pipeline], (proxy) => attackOpen(proxy, tally));
    await withProxy(url, [pipeline, `-http.allowed-hosts=${ownName}`], (proxy) => attackNamed(proxy, tally));
    await withProxy(url, [pipeline, `-server.admin-auth-token=${token}`], (proxy) =>
      attackWithToken(proxy, tally),
    );
  } finally {
    await backend?.close();
    await rm(folder, { recursive: true, force: true });
  }
  return tally;
}

async function withProxy(
  backend: string,
  more: readonly string[],
  use: (proxy: Watched) => Promise<void>,
): Promise<void> {
  const proxy = await Watched.start(['serve', `-backend=${backend}`, ...flags, ...more]);
  try {
    await use(proxy);
    for (const complaint of proxy.complaints.slice(0, 3)) throw new Error(complaint);
  } finally {
    await proxy.stop();
  }
}

async function attackOpen(proxy: Watched, tally: Tally): Promise<void> {
  for (const target of targets) {
    const url = target.route.listener === 'admin' ? proxy.adminUrl : proxy.url;
    for (const manner of honest) {
      const { status, head } = await ask(url, target, manner);
      tally.add('requests of operators');
      if (status === 403 || status >= 500 || (status === 404 && target.route.id !== 'ui_run'))
        tally.find(`${target.method} ${target.path} of ${manner.name}: ${status}`);
      shared(tally, target, manner, head);
    }
    const isAdmin = target.route.listener === 'admin';
    // A link may lead to an open route, such as the UI.
    const isClosed = isAdmin && target.route.isOpen !== true;
    const strangers = [...(isAdmin ? rebound : []), ...(target.changes || isClosed ? crossSite : [])];
    for (const manner of strangers) {
      const { status, head } = await ask(url, target, manner);
      tally.add('requests of pages');
      shared(tally, target, manner, head);
      if (status !== 403) tally.find(`${target.method} ${target.path} of ${manner.name}: ${status}`);
    }
    await preflight(url, target, tally);
  }
}

/** If the names of the main listener are configured, it responds to no other name. */
async function attackNamed(proxy: Watched, tally: Tally): Promise<void> {
  for (const route of routes.filter(({ listener, id }) => listener === 'main' && !id.startsWith('peer_'))) {
    const path = route.paths[0].replaceAll(/\{\w+\}/g, 'level');
    const target = { route, method: route.methods.includes('GET') ? 'GET' : 'POST', path } as const;
    for (const manner of [
      ...honest,
      { name: 'its own name', headers: [`Host: ${ownName}:PORT`] },
      ...rebound.slice(0, 4),
    ]) {
      const { status, head } = await ask(proxy.url, target, manner);
      tally.add('requests of the main listener');
      shared(tally, target, manner, head);
      if ((status === 403) !== rebound.includes(manner))
        tally.find(`${target.method} ${path} of ${manner.name}: ${status}`);
    }
  }
}

/** With a token configured, every request without it is rejected, from any site. */
async function attackWithToken(proxy: Watched, tally: Tally): Promise<void> {
  for (const target of targets.filter(({ route }) => route.listener === 'admin' && route.isOpen !== true))
    for (const manner of [...honest, ...rebound.slice(0, 3), ...crossSite]) {
      const { status } = await ask(proxy.url, target, manner);
      tally.add('requests without the token');
      if (status !== 401 && status !== 403)
        tally.find(`without the token: ${target.method} ${target.path} of ${manner.name}: ${status}`);
    }
}

/** Another site may send custom headers, and read responses, only if CORS allows it. */
async function preflight(url: string, { path, route }: Target, tally: Tally): Promise<void> {
  const manner: Manner = {
    name: 'a preflight',
    headers: [
      'Host: HOST',
      'Origin: http://site.evil.example',
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: x-admin-token, x-delete-confirmation',
    ],
  };
  const { head } = await ask(url, { path, method: 'OPTIONS' }, manner);
  tally.add('preflights');
  shared(tally, { path, route }, manner, head);
}

function shared(
  tally: Tally,
  { path }: Pick<Target, 'path' | 'route'>,
  { name }: Manner,
  head: string,
): void {
  if (/^access-control-allow-/im.test(head)) tally.find(`${path} of ${name}: other sites may read it`);
}

interface RawAnswer {
  readonly status: number;
  readonly head: string;
}

const patienceMs = 30_000;

/** Writes raw bytes, because no HTTP client would send such host names. */
async function ask(
  url: string,
  { method, path }: { readonly method: string; readonly path: string },
  { headers, target = (same) => same }: Manner,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const lines = headers.map((line) =>
    line.replaceAll('HOST', `${hostname}:${port}`).replaceAll('PORT', port),
  );
  const body = method === 'POST' ? ['Content-Type: text/plain', 'Content-Length: 0'] : [];
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(patienceMs, () => socket.destroy(new Error(`no answer within ${patienceMs} ms`)));
  socket.write(
    [`${method} ${target(path)} HTTP/1.1`, ...lines, ...body, 'Connection: close', '', ''].join('\r\n'),
  );
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    // The head is enough; profiles are long.
    if (text.length < 16_384) text += part;
  });
  await once(socket, 'close');
  const [head = ''] = text.split('\r\n\r\n', 1);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head };
}
