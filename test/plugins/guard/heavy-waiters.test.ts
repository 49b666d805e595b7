import { fileURLToPath } from 'node:url';
import test from 'ava';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { metricIs } from './metric-is.js';

const pipeline = fileURLToPath(new URL('../../../../pipelines/reference-compatible.yaml', import.meta.url));

/** A proxy with two permits over a backend where one path hangs, except for listings of streams and fields. */
async function withHanging(
  path: string,
  flags: Readonly<Record<string, string>>,
  use: (url: string, backend: DevBackend) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend({ faults: true });
  try {
    const rules = [
      { path: '/select/logsql/query', query: 'field_names', latencyMs: 0 },
      { path, hang: true },
    ];
    await fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
    await withProxyFile(pipeline, ({ url }) => use(url, backend), {
      flags: {
        backend: backend.url,
        'max-concurrent': '2',
        'max-concurrent-queue-wait': '10m',
        'server.register-instrumentation': 'true',
        ...flags,
      },
    });
  } finally {
    await backend.close();
  }
}

test('heavy queries that wait for the backend leave -max-concurrent to the others', async (t) => {
  const flags = {
    'backend-max-concurrent-heavy-queries': '1',
    'backend-heavy-query-queue-wait': '10m',
    'backend-max-concurrent-metadata-scans': '0',
  };
  await withHanging('/select/logsql/query', flags, async (url) => {
    const gone = new AbortController();
    const heavy: Promise<number>[] = [];
    for (const [waiting, app] of ['a', 'b', 'c', 'd'].entries()) {
      const query = encodeURIComponent(`max_over_time({app="${app}"} | logfmt | unwrap n [7h])`);
      const address = `${url}/loki/api/v1/query?query=${query}`;
      heavy.push(fetch(address, { signal: gone.signal }).then(({ status }) => status));
      const refused = Promise.race(heavy).then((status) => t.fail(`a heavy query got ${status}`));
      const isThere = metricIs(
        url,
        'ref_proxy_backend_heavy_queries{state="waiting"}',
        (value) => value === waiting,
      );
      await Promise.race([isThere, refused]);
    }
    const ended = Promise.allSettled(heavy);
    t.is((await fetch(`${url}/loki/api/v1/labels`)).status, 200);
    gone.abort();
    t.true((await ended).every(({ status }) => status === 'rejected'));
    await metricIs(url, 'ref_proxy_guard_in_flight', (value) => value === 0);
  });
});

test('what is asked ahead takes none of -max-concurrent', async (t) => {
  const path = '/select/logsql/streams';
  await withHanging(path, {}, async (url, backend) => {
    await metricIs(url, 'ref_proxy_backend_calls{state="running"}', (value) => value === 1);
    await metricIs(url, 'ref_proxy_guard_in_flight', (value) => value === 0);
    t.is(backend.stats().calls[path], 1);
  });
});
