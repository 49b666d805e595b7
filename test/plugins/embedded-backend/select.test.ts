import { once } from 'node:events';
import { request } from 'node:http';

import test from 'ava';

import { pushLoki, rows, select, withBackend } from './harness.js';

const T = 1_791_676_800_000_000_000n;
const SECOND = 1_000_000_000n;

async function pushMany(url: string, app: string, count: number, line = 'line'): Promise<void> {
  await pushLoki(
    url,
    { app },
    Array.from({ length: count }, (_, i) => [T + BigInt(i) * SECOND, `${line} ${i}`] as const),
  );
}

test('the newest rows of one stream are found without reading the other streams', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    for (let s = 0; s < 20; s++) await pushMany(url, `app-${s}`, 3000);
    const before = stats().rowsRead;
    const found = await rows(url, '{app="app-7"}', { limit: '1000' });
    t.is(found.length, 1000);
    t.is(found[0]?.['_msg'], 'line 2999');
    t.is(found[999]?.['_msg'], 'line 2000');
    t.true(stats().rowsRead - before <= 1512, `${stats().rowsRead - before} rows were read`);
  });
});

test('rows of equal time keep their order of arrival, and come reversed when the newest are asked for', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [
      [T, 'a'],
      [T, 'b'],
      [T - 1n, 'late'],
      [T, 'c'],
    ]);
    const messages = async (query: string, params = {}): Promise<unknown[]> =>
      (await rows(url, query, params)).map((row) => row['_msg']);
    t.deepEqual(await messages('* | sort by (_time)'), ['late', 'a', 'b', 'c']);
    t.deepEqual(await messages('*', { limit: '3' }), ['c', 'b', 'a']);
  });
});

test('a large answer is packed when the client can read it, a small one is not', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushMany(url, 'x', 2000);
    const large = await select(url, 'query', { query: '*' });
    t.is(large.headers.get('content-encoding'), 'gzip');
    t.is((await large.text()).split('\n').length, 2001);
    const small = await select(url, 'query', { query: '* | limit 1' });
    t.is(small.headers.get('content-encoding'), null);
    const plain = await select(url, 'query', { query: '*' }, { headers: { 'Accept-Encoding': 'identity' } });
    t.is(plain.headers.get('content-encoding'), null);
    t.is((await plain.text()).split('\n').length, 2001);
  });
});

test('answers echo the tenant and say how long they took', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const response = await select(url, 'query', { query: '*' }, { headers: { AccountID: '5' } });
    t.is(response.headers.get('accountid'), '5');
    t.is(response.headers.get('projectid'), '0');
    t.regex(response.headers.get('vl-request-duration-seconds') ?? '', /^\d+\.\d+$/);
    t.is(response.headers.get('content-type'), 'application/stream+json');
    t.is(await response.text(), '');
  });
});

test('a client that goes away ends its query', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    await pushMany(
      url,
      'x',
      50_000,
      'a line that is long enough to fill the buffers of the socket '.repeat(4),
    );
    const gone = request(`${url}/select/logsql/query?query=*`, { method: 'GET' });
    gone.on('error', () => undefined);
    gone.end();
    await once(gone, 'response');
    gone.destroy();
    while (stats().abortedQueries === 0) await new Promise(setImmediate);
    t.is(stats().queriesInFlight, 0);
    t.true(stats().rowsRead < 50_000);
  });
});

test('a query over its time limit gets 503 before the first byte', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushMany(url, 'x', 30_000);
    const response = await select(url, 'query', { query: '* | stats by (_msg) count()', timeout: '1ns' });
    t.is(response.status, 503);
    t.regex(await response.text(), /couldn't be executed in 0\.000 seconds/);
  });
});

test('a stats query over its time limit breaks the framing of a 200 answer', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushMany(url, 'x', 30_000);
    const response = await select(url, 'stats_query', {
      query: '* | stats by (_msg) count()',
      timeout: '1ns',
    });
    t.is(response.status, 200);
    await t.throwsAsync(response.text());
  });
});

test('a live tail shows that it is connected at once and then rows as they arrive', async (t) => {
  let nowNs = T;
  await withBackend(t, { nowNs: () => nowNs }, async ({ url }) => {
    const params = new URLSearchParams({
      query: '{app="x"}',
      offset: '0s',
      start_offset: '1s',
      refresh_interval: '5ms',
    });
    const response = await fetch(`${url}/select/logsql/tail`, {
      method: 'POST',
      body: params,
      headers: { 'Accept-Encoding': 'identity' },
    });
    t.is(response.headers.get('content-type'), 'application/x-ndjson');
    await pushLoki(url, { app: 'x' }, [
      [T - 1n, 'one'],
      [T - 5n * SECOND, 'too old'],
    ]);
    await pushLoki(url, { app: 'y' }, [[T - 1n, 'other stream']]);
    const reader = response.body?.getReader();
    const read = async (): Promise<string> =>
      new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
    t.regex(await read(), /^\{[^\n]*"one"[^\n]*\}\n$/);
    nowNs = T + SECOND;
    await pushLoki(url, { app: 'x' }, [[T, 'two']]);
    t.regex(await read(), /^\{[^\n]*"two"[^\n]*\}\n$/);
    await pushLoki(url, { app: 'x' }, [[T + 2n * SECOND, 'of the future']]);
    // Time for several polls without a visible row, which must not mark it as seen.
    await new Promise((resolve) => setTimeout(resolve, 30));
    nowNs = T + 3n * SECOND;
    t.regex(await read(), /^\{[^\n]*"of the future"[^\n]*\}\n$/);
    await reader?.cancel();
  });
});

test('a tail that may be packed keeps its headers back until there is a row', async (t) => {
  await withBackend(t, { nowNs: () => T }, async ({ url, stats }) => {
    const params = { query: '*', offset: '0s', start_offset: '1s', refresh_interval: '5ms' };
    let answered = false;
    const pending = select(url, 'tail', params, { headers: { 'Accept-Encoding': 'gzip' } }).then(
      (response) => {
        answered = true;
        return response;
      },
    );
    while (stats().calls['/select/logsql/tail'] !== 1) await new Promise(setImmediate);
    t.is((await fetch(`${url}/ping`)).status, 204);
    t.false(answered);
    await pushLoki(url, { app: 'x' }, [[T - 1n, 'one']]);
    const response = await pending;
    t.is(response.headers.get('content-encoding'), 'gzip');
    const reader = response.body?.getReader();
    t.regex(new TextDecoder().decode((await reader?.read())?.value as Uint8Array), /"one"/);
    await reader?.cancel();
  });
});

test('a tail whose output lost its time says so and ends', async (t) => {
  await withBackend(t, { nowNs: () => T }, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [[T - 1n, 'one']]);
    const params = { query: '* | fields _msg', offset: '0s', start_offset: '1s' };
    const response = await select(url, 'tail', params, { headers: { 'Accept-Encoding': 'gzip' } });
    t.is(response.status, 400);
    t.regex(await response.text(), /missing _time field/);
  });
});

test('a deletion removes the matching rows of its tenant only', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushMany(url, 'x', 10);
    await pushLoki(url, { app: 'x' }, [[T, 'line 3']], '?disable_message_parsing=1', { AccountID: '9' });
    const filter = '{app="x"} _msg:="line 3"';
    const started = await fetch(`${url}/delete/run_task`, {
      method: 'POST',
      body: new URLSearchParams({ filter }),
    });
    t.regex(await started.text(), /^\{"task_id":"\d+"\}$/);
    const active = async (): Promise<unknown> => (await fetch(`${url}/delete/active_tasks`)).json();
    while (JSON.stringify(await active()) !== '[]') await new Promise(setImmediate);
    t.is((await rows(url, '*')).length, 9);
    t.is((await rows(url, '*', {}, { AccountID: '9' })).length, 1);
  });
});

test('united queries are of the same range and have the same extra filters', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushMany(url, 'x', 10);
    await pushMany(url, 'y', 5);
    const params = {
      start: String(T + 2n * SECOND),
      end: String(T + 4n * SECOND),
      extra_filters: '{app="x"}',
    };
    const united =
      '{app="x"} | stats count() as rows | union ("line 3" | fields _msg) | union (* | field_names)';
    t.deepEqual(await rows(url, united, params), [
      { rows: '2' },
      { _msg: 'line 3' },
      ...['_msg', '_stream', '_stream_id', '_time', 'app'].map((name) => ({ name, hits: '2' })),
    ]);
    const response = await select(url, 'query', { query: '* | union (*) | stats count()' });
    t.is(response.status, 400);
  });
});

test('a deletion by subquery is refused', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const filter = 'trace_id:in(level:error | fields trace_id)';
    const response = await fetch(`${url}/delete/run_task`, {
      method: 'POST',
      body: new URLSearchParams({ filter }),
    });
    t.is(response.status, 400);
  });
});

test('queries beyond the concurrency limit wait, and get 503 when the wait is too long', async (t) => {
  await withBackend(t, { maxConcurrentQueries: 1, maxQueueMs: 20, faults: true }, async ({ url }) => {
    await pushMany(url, 'x', 1000);
    await fetch(`${url}/-/faults`, {
      method: 'POST',
      body: JSON.stringify([{ path: '/select/logsql/query', query: 'slow', trickleMs: 50 }]),
    });
    const slow = await select(url, 'query', { query: '* !slow' });
    const refused = await select(url, 'query', { query: '*' });
    t.is(refused.status, 503);
    t.regex(await refused.text(), /couldn't start executing the request/);
    await slow.body?.cancel();
  });
});
