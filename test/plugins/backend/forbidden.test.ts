import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { withProxy } from '../../../core/testing/index.js';

const pipeline = `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: peer-cache
  - use: backend
  - use: response-shape
endpoints:
  - use: reference-api
  - use: patterns
`;

/** The statuses that clients see if the backend returns 403 for everything, and one kind of call finishes last. */
async function statusesOf(last: string): Promise<Readonly<Record<string, number>>> {
  const server = createServer((request, response) => {
    const isLast = request.url?.startsWith(`/select/logsql/${last}`) === true;
    request.resume();
    setTimeout(() => response.writeHead(403).end('forbidden for you'), isLast ? 150 : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const statuses: Record<string, number> = {};
  const endMs = Date.now() - 60_000;
  const range = `query={app="a"}&start=${endMs - 60_000}000000&end=${endMs}000000`;
  const ask = async (url: string): Promise<void> => {
    for (const path of [
      'query_range',
      'patterns',
      'labels',
      'series',
      'index/stats',
      'index/volume',
      'detected_fields',
      'detected_labels',
    ])
      statuses[path] = (await fetch(`${url}/loki/api/v1/${path}?${range}`)).status;
  };
  try {
    await withProxy(pipeline, ({ url }) => ask(url), { flags: { backend: `http://127.0.0.1:${port}` } });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return statuses;
}

for (const last of ['query', 'streams', 'stats_query'])
  test(`which status a forbidden client sees follows from the route, also when ${last} is answered last`, async (t) => {
    t.deepEqual(await statusesOf(last), {
      query_range: 403,
      patterns: 403,
      labels: 502,
      series: 502,
      'index/stats': 502,
      'index/volume': 502,
      detected_fields: 502,
      detected_labels: 502,
    });
  });
