import test from 'ava';
import { request } from 'undici';
import { withProxyFile } from '../../../core/testing/index.js';
import { ask, storeRows } from '../../conformance/store-rows.js';

let store: Awaited<ReturnType<typeof storeRows>>;

test.before('lines that only this side can count', async () => {
  store = await storeRows(
    ['app'],
    Array.from({ length: 40 }, (_none, at) => ({
      _time: `2026-11-01T00:10:${String(at).padStart(2, '0')}Z`,
      _msg: `took=${at} path=/a`,
      app: 'a',
    })),
  );
});

test.after.always(async () => {
  await store.close();
});

const cases: readonly (readonly [flags: Readonly<Record<string, string>>, jobs: number])[] = [
  [{ 'row-threads-min-rows': '40' }, 1],
  [{ 'row-threads-min-rows': '40', 'row-threads': '2' }, 1],
  [{ 'row-threads-min-rows': '41' }, 0],
  [{}, 0],
  [{ 'row-threads-min-rows': '40', 'row-threads': '0' }, 0],
];

for (const [flags, jobs] of cases)
  test(`rows counted in threads with ${JSON.stringify(flags)}: ${jobs}`, async (t) => {
    await withProxyFile(
      'pipelines/minimal.yaml',
      async ({ url }) => {
        const { body } = await ask(url, 'query_range', {
          query: 'sum(count_over_time({app="a"} | logfmt | line_format "{{.took}}" |~ "[0-9]" [1h]))',
          step: '3600',
        });
        t.regex(JSON.stringify(body), /"40"/);
        const metrics = await (await request(`${url}/metrics`)).body.text();
        const counted = /^ref_proxy_row_threads_jobs_total\{.*outcome="done".*\} (\d+)$/m.exec(metrics);
        t.is(Number(counted?.[1] ?? 0), jobs);
        t.is(Number(/^ref_proxy_row_threads(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1]), jobs);
      },
      { flags: { backend: store.url, 'server.register-instrumentation': 'true', ...flags } },
    );
  });
