import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

const hourNs = 3_600_000_000_000n;
const endNs = BigInt(Date.UTC(2026, 0, 2, 0, 4)) * 1_000_000n;

const pipeline = (backend: string): string => `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with: { url: '${backend}', maxConcurrentHeavyQueries: 1, heavyQueryQueueWait: 0s }
  - use: response-shape
endpoints:
  - use: reference-api
`;

const queries: readonly string[] = [
  'sum by (app) (count_over_time({app=~"a|b"}[1h]))',
  'sum by (detected_level) (count_over_time({app=~"a|b"}[1h]))',
  'sum by (app, n) (count_over_time({app=~"a|b"} | json [1h]))',
  'sum by (app) (sum_over_time({app=~"a|b"} | json | unwrap n [1h]))',
  'quantile_over_time(0.5, {app=~"a|b"} | json | unwrap n [1h]) by (app)',
  'sum by (app) (rate({app=~"a|b"} | logfmt | n > 3 [1h]))',
  'sum by (app) (rate({app=~"a|b"}[1h])) / sum by (app) (rate({app=~"a|b"} |= "x" [1h]))',
];

for (const query of queries) {
  test(`with one place for heavy queries and no wait, a first query over a day has an answer: ${query}`, async (t) => {
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    for (const app of ['a', 'b']) {
      const lines = Array.from({ length: 48 }, (_none, index) => {
        const atNs = endNs - (BigInt(index) * hourNs) / 2n - 1n;
        return [atNs, JSON.stringify({ msg: 'x', level: 'info', n: index })] as const;
      });
      // A row that was pushed twice makes the proxy look for repeated rows.
      await pushLoki(backend.url, { app }, [...lines, ...lines.slice(0, 1)]);
    }
    await withProxy(pipeline(backend.url), async ({ url }) => {
      const [start, end] = [String(endNs - 24n * hourNs), String(endNs)];
      const params = new URLSearchParams({ query, start, end, step: '3600' });
      const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`);
      t.is(answer.status, 200, await answer.text());
    });
  });
}
