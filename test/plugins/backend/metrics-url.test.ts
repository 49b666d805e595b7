import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile, type ProxyUnderTest } from '../../../core/testing/index.js';

/** The metrics pages of the processes of a cluster, by path. */
class Pages {
  readonly asked: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly texts: Map<string, string>;
  url = '';

  constructor(texts: Readonly<Record<string, string>>) {
    this.texts = new Map(Object.entries(texts));
  }
}

async function withPages(
  texts: Readonly<Record<string, string>>,
  use: (pages: Pages) => Promise<void>,
): Promise<void> {
  const pages = new Pages(texts);
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    pages.asked.push({ url, headers: request.headers });
    const text = pages.texts.get(url.split('?', 1)[0] ?? '');
    response.statusCode = text === undefined ? 404 : 200;
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  pages.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await use(pages);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Memory metrics with a total of 1000 bytes. */
const memory = (used: number): string =>
  [`process_resident_memory_anon_bytes ${used}`, 'vm_available_memory_bytes 1000'].join('\n');
const selector = (selects: number, used = 10): string =>
  [
    `vl_concurrent_select_current ${selects}`,
    'vl_concurrent_select_capacity 4',
    'vl_select_remote_send_errors_total{addr="127.0.0.1:9491"} 0',
    memory(used),
  ].join('\n');
/** A storage node does not count the queries of selectors. */
const node = (used: number, version = 'v1.52.0'): string =>
  [
    'vl_concurrent_select_current 0',
    'vl_concurrent_select_capacity 16',
    `vm_app_version{version="victoria-logs", short_version="${version}"} 1`,
    memory(used),
  ].join('\n');

const nothing = (): Promise<void> => Promise.resolve();
/** Makes every listing count as long. */
const gated = { 'backend-heavy-query-min-range': '1s' };

async function withProxyOver(
  flags: Readonly<Record<string, string>>,
  use: (under: ProxyUnderTest, backendUrl: string) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend();
  const all = { backend: backend.url, ...gated, ...flags };
  try {
    await withProxyFile('pipelines/reference-compatible.yaml', (under) => use(under, backend.url), {
      flags: all,
    });
  } finally {
    await backend.close();
  }
}

async function listLabels(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const now = Date.now() * 1_000_000;
  const answer = await fetch(`${url}/loki/api/v1/labels?start=${now - 86_400e9}&end=${now}`);
  return { status: answer.status, text: await answer.text() };
}

const refused: readonly (readonly [what: string, pages: Readonly<Record<string, string>>, told: RegExp])[] = [
  ['a storage node without memory', { '/metrics': selector(0), '/b': node(990) }, /memory 99% used/],
  ['a selector without memory', { '/metrics': selector(0, 980), '/b': node(10) }, /memory 98% used/],
  ['selectors without places', { '/metrics': selector(4), '/b': selector(4) }, /running 8 of 8 selects/],
];

for (const [what, texts, told] of refused)
  test.serial(`-backend-metrics-url: long listings wait for ${what}`, async (t) => {
    await withPages(texts, async (pages) => {
      await withProxyOver(
        {
          'backend-metrics-url': `${pages.url},${pages.url}/b?authKey=k`,
          'backend-heavy-query-queue-wait': '1s',
        },
        async ({ url }) => {
          const { status, text } = await listLabels(url);
          t.is(status, 429);
          t.regex(text, told);
          t.true(pages.asked.some((page) => page.url === '/b?authKey=k'));
        },
      );
    });
  });

test.serial(
  '-backend-metrics-url: long listings run where all processes have room, and where none is named',
  async (t) => {
    await withPages({ '/metrics': selector(1), '/b': node(100) }, async (pages) => {
      await withProxyOver({ 'backend-metrics-url': `${pages.url},${pages.url}/b` }, async ({ url }) => {
        t.is((await listLabels(url)).status, 200);
      });
    });
    await withProxyOver({}, async ({ url }) => {
      t.is((await listLabels(url)).status, 200);
    });
  },
);

test.serial(
  'metrics that cannot be read are told once, without what may be secret, and nothing waits for them',
  async (t) => {
    await withPages({ '/other': 'up 1\n' }, async (pages) => {
      const flags = { 'backend-metrics-url': `${pages.url}/none?authKey=hidden,${pages.url}/other` };
      await withProxyOver(flags, async ({ url, log }) => {
        t.is((await listLabels(url)).status, 200);
        t.is((await listLabels(url)).status, 200);
        const texts = log.records.map((record) => JSON.stringify([...record]));
        t.is(texts.filter((text) => text.includes(`cannot read the metrics of ${pages.url}`)).length, 2);
        t.false(texts.join('').includes('hidden'));
      });
    });
  },
);

test.serial('a storage node that is older than supported is told like an old backend', async (t) => {
  await withPages({ '/metrics': selector(0), '/b': node(10, 'v1.44.2') }, async (pages) => {
    const flags = { 'backend-metrics-url': `${pages.url},${pages.url}/b` };
    const told = `the backend at ${pages.url} is v1.44.2; -backend-min-version is v1.45.0`;
    await withProxyOver(flags, ({ log }) => {
      t.true(JSON.stringify(log.records.map((record) => [...record])).includes(told));
      return Promise.resolve();
    });
    const strict = withProxyOver({ ...flags, 'backend-version-strict': 'true' }, nothing);
    const error = await t.throwsAsync(strict);
    t.true(error.message.includes(told), error.message);
  });
});

test.serial('the backend’s own credentials go with what is asked for nobody', async (t) => {
  const texts = { '/health': 'OK', '/select/buildinfo': '{}', '/metrics': selector(0), '/b': node(10) };
  await withPages(texts, async (pages) => {
    const flags = {
      'backend-basic-auth': 'u:p',
      'backend-metrics-url': `${pages.url}/b`,
      backend: pages.url,
    };
    await withProxyOver(flags, nothing);
    t.deepEqual([...new Set(pages.asked.map(({ url }) => url))].sort(), [
      '/b',
      '/health',
      '/select/buildinfo',
    ]);
    const credentials = new Set(pages.asked.map(({ headers }) => headers.authorization));
    t.deepEqual([...credentials], [`Basic ${Buffer.from('u:p').toString('base64')}`]);
  });
});
