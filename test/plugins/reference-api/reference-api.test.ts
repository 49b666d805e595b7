import test from 'ava';
import { request } from 'undici';
import type { ApiRequest } from '../../../core/wire/api/request.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import referenceApi from '../../../plugins/reference-api/index.js';
import { lastStage } from '../../core/http/fixtures.js';

/** The request that the chain gets for a client's request. */
async function askedFor(
  path: string,
  sections: Parameters<typeof makePipeline>[0] = {},
): Promise<ApiRequest | undefined> {
  let asked: ApiRequest | undefined;
  const stage = lastStage((exchange) => {
    asked = exchange.request;
    return Promise.resolve({ kind: 'names', values: [], warnings: [] });
  });
  await withPipeline(
    makePipeline({ stages: [stage], endpoints: [referenceApi], ...sections }),
    async ({ url }) => {
      await (await request(url + path)).body.dump();
    },
  );
  return asked;
}

const operations: readonly (readonly [path: string, op: ApiRequest['op']])[] = [
  ['/loki/api/v1/query_range?query=x', 'query_range'],
  ['/loki/api/v1/query?query=x', 'query'],
  ['/loki/api/v1/labels', 'labels'],
  ['/loki/api/v1/label', 'labels'],
  ['/loki/api/v1/label/app/values', 'label_values'],
  ['/loki/api/v1/series', 'series'],
  ['/loki/api/v1/index/stats?query=x', 'index_stats'],
  ['/loki/api/v1/index/volume?query=x', 'volume'],
  ['/loki/api/v1/index/volume_range?query=x', 'volume_range'],
  ['/loki/api/v1/index/shards?query=x&targetBytesPerShard=1', 'index_shards'],
  ['/loki/api/v1/detected_labels', 'detected_labels'],
  ['/loki/api/v1/detected_fields?query=x', 'detected_fields'],
  ['/loki/api/v1/detected_field/a/values?query=x', 'detected_field_values'],
  ['/loki/api/v1/format_query?query=x', 'format_query'],
  ['/api/prom/query?query=x', 'query_range'],
  ['/api/prom/label', 'labels'],
  ['/api/prom/label/app/values', 'label_values'],
  ['/api/prom/series', 'series'],
];
for (const [path, op] of operations) {
  test(`${path} asks the chain for ${op}`, async (t) => {
    t.is((await askedFor(path))?.op, op);
  });
}

test('the name of a label comes from the path', async (t) => {
  t.like(await askedFor('/ref/api/v1/label/a%2Fb/values'), { name: 'a/b' });
  t.like(await askedFor('/ref/api/v1/detected_field/k8s.pod%2Fx/values?query=x'), { name: 'k8s.pod/x' });
});

test('the default limit and the browse extensions come from the pipeline file', async (t) => {
  t.like(await askedFor('/loki/api/v1/query_range?query=x', { limits: { maxLines: 7 } }), { limit: 7 });
  const names = { labelBrowseExtensions: 'on' };
  t.like(await askedFor('/loki/api/v1/labels?limit=3', { names }), { browse: { limit: 3 } });
  const plain = await askedFor('/loki/api/v1/labels?limit=3');
  t.deepEqual(plain?.op === 'labels' ? plain.browse : undefined, {});
});

test('a bad parameter never reaches the chain', async (t) => {
  t.is(await askedFor('/loki/api/v1/query_range?query=x&start=abc'), undefined);
});

test('format_query tells a query that does not parse in Loki’s own body', async (t) => {
  const stage = lastStage((exchange) => {
    if (exchange.request.op === 'format_query') exchange.request.query.ast satisfies unknown;
    return Promise.resolve({ kind: 'formatted', query: 'formatted' });
  });
  await withPipeline(makePipeline({ stages: [stage], endpoints: [referenceApi] }), async ({ url }) => {
    const bad = await request(`${url}/loki/api/v1/format_query?query=sum(`);
    t.is(bad.statusCode, 400);
    t.is(bad.headers['content-type'], 'application/json; charset=utf-8');
    t.deepEqual(await bad.body.json(), {
      status: 'invalid-query',
      error: 'parse error at line 1, col 5: syntax error: unexpected $end',
    });
    const good = await request(`${url}/loki/api/v1/format_query?query=%7Ba%3D%22b%22%7D`);
    t.deepEqual(await good.body.json(), { status: 'success', data: 'formatted' });
  });
});
