import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import test from 'ava';
import { WebSocket } from 'ws';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { push, TailClient } from '../tail/fixtures.js';

/** Starts a pipeline with the page; with a tail unless `tail` is empty. */
async function withPage(
  tail: string,
  use: (under: ProxyUnderTest & { readonly admin: string; readonly backendUrl: string }) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend({});
  const yaml = `
version: 1
stages:
  - use: tenancy
  - use: guard
  - use: translate
  - use: backend
    with: { url: '${backend.url}' }
  - use: response-shape
endpoints:
  - use: reference-api
${tail}
  - use: ui
`;
  try {
    await withProxy(yaml, (under) =>
      use({ ...under, admin: under.proxy.urls.admin ?? '', backendUrl: backend.url }),
    );
  } finally {
    await backend.close();
  }
}

const withTail = '  - use: tail\n    with: { refreshInterval: 20ms, reorderWindow: 40ms }';

async function refusal(url: string): Promise<readonly [status: number, text: string]> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return [response.statusCode ?? 0, text];
}

test('the page follows lines by the tail of the pipeline, though no origin is allowed there', async (t) => {
  await withPage(withTail, async ({ url, admin, backendUrl }) => {
    const params = { query: '{app="a"}', path: '/ui/api/tail' };
    const client = await new TailClient(admin, params, {
      Origin: admin,
      'X-Loki-Response-Encoding-Flags': 'categorize-labels',
    }).opened();
    await push(backendUrl, [{ text: 'one' }]);
    t.deepEqual(await client.untilLines(1), ['one']);
    t.deepEqual(client.frames[0]?.encodingFlags, ['categorize-labels']);
    client.socket.terminate();
    t.is((await new TailClient(url, { query: '{app="a"}' }, { Origin: admin }).refused()).status, 403);
  });
});

test('the page’s tail refuses a metric query before the handshake, and says when there is no tail', async (t) => {
  const query = `/ui/api/tail?query=${encodeURIComponent('rate({app="a"}[1m])')}`;
  await withPage(withTail, async ({ admin }) => {
    t.deepEqual((await refusal(admin + query))[0], 400);
    t.regex((await refusal(admin + query))[1], /only log selector is supported/);
  });
  await withPage('', async ({ admin }) => {
    const [status, text] = await refusal(`${admin}/ui/api/tail?query=${encodeURIComponent('{app="a"}')}`);
    t.is(status, 400);
    t.regex(text, /this pipeline serves no tail: add the endpoint `tail`/);
  });
});
