import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { builtInDefinitions } from '../../../core/kernel/options/index.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

const hourMs = 3_600_000;
const hours = 12;

/**
 * The maximum number of concurrent row reads during a query over twelve windows. The reads wait until `enough` of them are in flight, or
 * for some time.
 */
async function readsAtOnce(query: string, enough: number, patienceMs: number): Promise<number> {
  let most = 0;
  const waiting = new Set<() => void>();
  const release = (): void => {
    for (const goOn of waiting) goOn();
    waiting.clear();
  };
  const backend = await startDevBackend();
  const server = createServer((call, response) => {
    void (async () => {
      const body = await text(call);
      const path = call.url ?? '';
      if (path.startsWith('/select/logsql/query') && !decodeURIComponent(body).includes('stats')) {
        const going = new Promise<void>((resolve) => waiting.add(resolve));
        most = Math.max(most, waiting.size);
        if (waiting.size >= enough) release();
        else setTimeout(release, patienceMs).unref();
        await going;
      }
      const answer = await fetch(backend.url + path, {
        method: call.method ?? 'GET',
        headers: { 'content-type': call.headers['content-type'] ?? 'text/plain' },
        ...(body === '' ? {} : { body }),
      });
      response.setHeader('content-type', answer.headers.get('content-type') ?? 'text/plain');
      response.writeHead(answer.status).end(await answer.text());
      // At the end of the test, abandoned calls find the backend closed.
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const endMs = (Math.floor(Date.now() / hourMs) - 2) * hourMs;
  const lines = Array.from({ length: 2 * hours }, (_none, at): [bigint, string] => [
    BigInt(endMs - (at + 0.5) * (hourMs / 2)) * 1_000_000n,
    `n=${at}`,
  ]);
  const form = new URLSearchParams({
    query,
    start: `${endMs - hours * hourMs}000000`,
    end: `${endMs}000000`,
    step: '3600',
  });
  const flags = {
    backend: `http://127.0.0.1:${port}`,
    'query-range-max-parallel': '4',
    'query-range-adaptive-parallel': 'false',
    'query-range-stream-aware-batching': 'false',
  };
  try {
    await pushLoki(backend.url, { app: 'a' }, lines);
    await withProxyFile(
      'pipelines/reference-compatible.yaml',
      async ({ url }) => {
        const answer = await fetch(`${url}/loki/api/v1/query_range?${form.toString()}`);
        const said = await answer.text();
        if (!answer.ok) throw new Error(said);
      },
      { flags },
    );
  } finally {
    release();
    server.closeAllConnections();
    server.close();
    await backend.close();
  }
  return most;
}

test('-query-range-max-parallel is of metric queries; log queries read their windows in one call', async (t) => {
  t.is(await readsAtOnce('{app="a"}', 4, 300), 1);
  t.is(await readsAtOnce('quantile_over_time(0.5, {app="a"} | logfmt | unwrap n [1h])', 4, 20_000), 4);
});

test('the flags of parallelism say that they are of metric queries', (t) => {
  const named = /^query-range-(?:max-parallel|adaptive-|latency-|error-backoff|stream-aware|expensive-)/;
  const found = builtInDefinitions().filter(({ flag }) => named.test(flag ?? ''));
  t.is(found.length, 11);
  for (const { flag, description } of found) t.regex(description, /metric quer/i, flag);
});
