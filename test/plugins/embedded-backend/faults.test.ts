import test from 'ava';

import { pushLoki, select, withBackend } from './harness.js';

const T = 1_791_676_800_000_000_000n;

function setFaults(url: string, rules: unknown): Promise<Response> {
  return fetch(`${url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
}

test('without faults allowed the control endpoint refuses', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    t.is((await setFaults(url, [])).status, 403);
  });
});

test('a rule can answer an error for a number of requests', async (t) => {
  await withBackend(t, { faults: true }, async ({ url }) => {
    await setFaults(url, [{ path: '/select/', status: 502, text: 'node is down', times: 1 }]);
    const first = await select(url, 'query', { query: '*' });
    t.is(first.status, 502);
    t.is(await first.text(), 'node is down');
    t.is((await select(url, 'query', { query: '*' })).status, 200);
  });
});

test('a rule can cut the connection after some rows', async (t) => {
  await withBackend(t, { faults: true }, async ({ url }) => {
    await pushLoki(
      url,
      { app: 'x' },
      Array.from({ length: 50 }, (_, i) => [T + BigInt(i), `line ${i}`] as const),
    );
    await setFaults(url, [{ path: '/select/logsql/query', cutAfterRows: 10 }]);
    const response = await select(
      url,
      'query',
      { query: '*' },
      { headers: { 'Accept-Encoding': 'identity' } },
    );
    t.is(response.status, 200);
    const reader = response.body?.getReader();
    let text = '';
    await t.throwsAsync(async () => {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        text += new TextDecoder().decode(part.value as Uint8Array);
      }
    });
    t.is(text.split('\n').length - 1, 10);
  });
});

test('a rule can cut a JSON answer half way', async (t) => {
  await withBackend(t, { faults: true }, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [[T, 'a']]);
    await setFaults(url, { path: '/select/logsql/streams', cutAfterRows: 0 });
    await t.throwsAsync(async () => (await select(url, 'streams', { query: '*' })).text());
  });
});

test('a rule can leave a request without an answer until the client gives up', async (t) => {
  await withBackend(t, { faults: true }, async ({ url }) => {
    await setFaults(url, [{ path: '/health', hang: true }]);
    const controller = new AbortController();
    const hung = fetch(`${url}/health`, { signal: controller.signal });
    t.is((await fetch(`${url}/ping`)).status, 204);
    controller.abort();
    await t.throwsAsync(hung, { any: true });
  });
});

test('a malformed rule is named', async (t) => {
  await withBackend(t, { faults: true }, async ({ url }) => {
    const response = await setFaults(url, [{ path: '/x', latencyMS: 5 }]);
    t.is(response.status, 400);
    t.regex(await response.text(), /"latencyMS"/);
  });
});

test('the counters show calls by path and rows read', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [
      [T, 'a'],
      [T, 'b'],
    ]);
    await (await select(url, 'query', { query: '*' })).text();
    const stats = (await (await fetch(`${url}/-/stats`)).json()) as Record<string, unknown>;
    t.like(stats, { rowsRead: 2, rowsStored: 2, streams: 1, queriesInFlight: 0 });
    t.like(stats['calls'], { '/select/logsql/query': 1, '/insert/loki/api/v1/push': 1 });
  });
});
