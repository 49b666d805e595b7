import test from 'ava';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { makeTenant, withProxyFile } from '../../../../core/testing/index.js';
import { everything, query } from '../../../../core/victoria/logsql/build.js';
import { emptyUpstream } from '../../../../core/victoria/upstream/no-data.js';

const tenant = { ...makeTenant('no"body'), hasNoData: true } as const;
const tail = { query: query(everything), offsetNs: 0n, startOffsetMs: 0, refreshMs: 1, openTimeoutMs: 1 };

test('a tail without data ends with the exchange', async (t) => {
  const ending = new AbortController();
  const rows = await emptyUpstream(tenant, ending.signal).tail(tail);
  const all = (async () => {
    const batches: unknown[] = [];
    for await (const batch of rows) batches.push(batch);
    return batches;
  })();
  ending.abort();
  t.deepEqual(await all, []);
});

test('a deletion for an unknown tenant is refused', (t) => {
  const upstream = emptyUpstream(tenant, new AbortController().signal);
  t.throws(() => upstream.deletion({ filter: everything, range: { startNs: 0n, endNs: 1n } }), {
    message: 'unknown tenant "no\\"body"',
  });
});

const paths: readonly (readonly [path: string, status: number, text: string])[] = [
  ['query_range?query={app="a"}', 200, '"resultType":"streams","result":[]'],
  ['query_range?query=rate({app="a"}[1m])', 200, '"result":[]'],
  ['query?query=count_over_time({app="a"}[1m])', 200, '"result":[]'],
  ['query_range?query={app=', 400, 'parse error'],
  ['labels', 200, '{"status":"success"}'],
  ['label/app/values', 200, '{"status":"success"}'],
  ['series', 200, '"data":[]'],
  ['index/stats?query={app="a"}', 200, '"entries":0'],
  ['index/volume?query={app="a"}', 200, '"result":[]'],
  ['detected_labels', 200, '{'],
  ['detected_fields?query={app="a"}', 200, '{'],
  ['patterns?query={app="a"}', 200, '"data":[]'],
];

test('an unknown tenant is answered like one without data, and the backend is not asked', async (t) => {
  const backend = await startDevBackend();
  try {
    const flags = { backend: backend.url };
    await withProxyFile(
      'pipelines/reference-compatible.yaml',
      async ({ url }) => {
        await backend.close();
        for (const [path, status, text] of paths) {
          const answer = await fetch(`${url}/loki/api/v1/${encodeURI(path)}`, {
            headers: { 'x-scope-orgid': 'nobody' },
          });
          const body = await answer.text();
          t.is(answer.status, status, `${path} ${body}`);
          t.true(body.includes(text), `${path} ${body}`);
        }
      },
      { flags },
    );
  } finally {
    await backend.close();
  }
});
