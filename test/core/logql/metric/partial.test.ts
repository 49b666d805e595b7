import test from 'ava';
import { withDoor } from '../../wire/limits/door.js';

const minuteNs = 60_000_000_000n;
const tags = { 'x-query-tags': 'Source=grafana-lokiexplore-app' };
const partial = 'maximum number of series (10) reached for a single query; returning partial results';

interface Body {
  readonly data: { readonly result: readonly { readonly metric: { readonly pod: string } }[] };
  readonly warnings?: readonly string[];
}

test('Logs Drilldown gets the busiest of too many series, at an instant and over a range', async (t) => {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const pods = Array.from({ length: 60 }, (_none, index) => `p${String(index).padStart(2, '0')}`);
  await withDoor(
    async ({ get, push }) => {
      for (const [index, pod] of pods.entries())
        await push(
          { app: 'a', pod },
          Array.from({ length: index + 1 }, (_none, line) => [nowNs - minuteNs - BigInt(line), `n=${line}`]),
        );
      const range = { start: String(nowNs - 10n * minuteNs), end: String(nowNs), step: '60' };
      const queries = [
        'sum by (pod) (count_over_time({app="a"}[10m]))',
        'sum by (pod) (count_over_time({app="a"} | logfmt [10m]))',
        'max by (pod) (count_over_time({app="a"}[10m]))',
        'sum by (pod) (count_over_time({app="a"} | logfmt | n=~".+" [10m]))',
      ];
      for (const query of queries)
        for (const [path, more] of [
          ['/loki/api/v1/query', { time: String(nowNs) }],
          ['/loki/api/v1/query_range', range],
        ] as const) {
          const { status, text } = await get(path, { query, ...more }, '1', tags);
          t.is(status, 200, text);
          const { data, warnings } = JSON.parse(text) as Body;
          t.deepEqual(data.result.map(({ metric }) => metric.pod).sort(), pods.slice(50), `${path} ${query}`);
          t.deepEqual(warnings, [partial]);
        }
    },
    { 'max-stats-query-series': '10' },
  );
});
