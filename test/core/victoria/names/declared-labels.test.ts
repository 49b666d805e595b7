import test, { type ExecutionContext } from 'ava';
import { withProxyFile } from '../../../../core/testing/index.js';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { pushLoki } from '../../../plugins/embedded-backend/harness.js';

const nowNs = BigInt(Date.now()) * 1_000_000n - 60_000_000_000n;
const range = { start: String(nowNs - 3_600_000_000_000n), end: String(nowNs + 30_000_000_000n) };

/** Runs a proxy over lines of one stream, most of which have fields in addition to the stream labels. */
async function overFields(
  t: ExecutionContext,
  flags: Readonly<Record<string, string>>,
  use: (ask: Ask) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const fields = { 'http.method': 'GET', team: 'red', 'team.owner': 'ann', 'org.unit_name': 'x' };
  const lines = [
    [nowNs, 'a', fields],
    [nowNs + 1n, 'b', { ...fields, 'http.method': 'POST', team: 'blue', 'team.owner': 'bob' }],
    [nowNs + 2n, 'c', {}],
  ] as const;
  await pushLoki(backend.url, { app: 'shop' }, lines);
  await withProxyFile(
    'pipelines/reference-compatible.yaml',
    ({ url }) =>
      use(async (path, params) => {
        const answer = await fetch(
          `${url}/loki/api/v1/${path}?${new URLSearchParams({ ...range, ...params }).toString()}`,
        );
        const text = await answer.text();
        t.is(answer.status, 200, text);
        return (JSON.parse(text) as { readonly data: unknown }).data;
      }),
    { flags: { ...flags, backend: backend.url } },
  );
}

type Ask = (path: string, params: Readonly<Record<string, string>>) => Promise<unknown>;

/** The lines that a selector matches, sorted. */
async function found(ask: Ask, query: string): Promise<readonly string[]> {
  const data = await ask('query_range', { query });
  const { result } = data as { readonly result: readonly { readonly values: readonly [string, string][] }[] };
  return result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

/** The values of a label in a volume response. */
async function volumes(ask: Ask, path: string, label: string): Promise<readonly (string | undefined)[]> {
  const data = await ask(path, { query: '{service_name="shop"}', targetLabels: label });
  const { result } = data as { readonly result: readonly { readonly metric: Record<string, string> }[] };
  return result.map(({ metric }) => metric[label]).sort();
}

const mapping = JSON.stringify([{ vl_field: 'team.owner', loki_label: 'crew' }]);
const passthrough = { 'label-style': 'passthrough', 'metadata-field-mode': 'native' };
const cases: readonly (readonly [
  flags: Readonly<Record<string, string>>,
  label: string,
  first: string,
  second: string,
])[] = [
  [{ 'extra-label-fields': 'team' }, 'team', 'red', 'blue'],
  [{ 'extra-label-fields': 'http.method' }, 'http_method', 'GET', 'POST'],
  [{ 'extra-label-fields': 'http_method' }, 'http_method', 'GET', 'POST'],
  [{ 'extra-label-fields': 'team,team,http_method' }, 'http_method', 'GET', 'POST'],
  [{ 'extra-label-fields': 'team.owner', 'field-mapping': mapping }, 'crew', 'ann', 'bob'],
  [{ 'extra-label-fields': 'crew', 'field-mapping': mapping }, 'crew', 'ann', 'bob'],
  [{ ...passthrough, 'extra-label-fields': 'team' }, 'team', 'red', 'blue'],
  [{ ...passthrough, 'extra-label-fields': 'http.method' }, 'http.method', 'GET', 'POST'],
  [{ ...passthrough, 'extra-label-fields': 'team.owner', 'field-mapping': mapping }, 'crew', 'ann', 'bob'],
];
for (const [flags, label, first, second] of cases) {
  test(`an extra label is listed, has values, selects and is a target: ${JSON.stringify(flags)}`, async (t) => {
    await overFields(t, flags, async (ask) => {
      const names = (await ask('labels', {})) as readonly string[];
      t.is(names.filter((name) => name === label).length, 1);
      t.deepEqual(await ask(`label/${label}/values`, {}), [first, second].sort());
      t.deepEqual(await found(ask, `{app="shop", ${label}="${first}"}`), ['a']);
      t.deepEqual(await found(ask, `{${label}="${second}"}`), ['b']);
      t.deepEqual(await found(ask, `{app="shop", ${label}!="${first}"}`), ['b', 'c']);
      t.deepEqual(await found(ask, `{app="shop", ${label}=~"${first}|"}`), ['a', 'c']);
      t.deepEqual(await found(ask, `{app="shop", ${label}!~".+"}`), ['c']);
      for (const path of ['index/volume', 'index/volume_range'])
        t.deepEqual(await volumes(ask, path, label), [first, second].sort());
      const counted = await ask('query', {
        query: `sum(count_over_time({${label}="${first}"}[1h]))`,
        time: range.end,
      });
      t.regex(JSON.stringify(counted), /"1"\]/);
    });
  });
}

test('a mapped field is selected by its label, whether it is one of streams or not, and is not listed for it', async (t) => {
  const more = JSON.stringify([
    { vl_field: 'team.owner', loki_label: 'crew' },
    { vl_field: 'app', loki_label: 'service' },
  ]);
  for (const streamFields of ['', 'app']) {
    await overFields(t, { 'field-mapping': more, 'stream-fields': streamFields }, async (ask) => {
      t.deepEqual(await ask('labels', {}), ['service', 'service_name']);
      t.deepEqual(await found(ask, '{crew="ann"}'), ['a']);
      t.deepEqual(await found(ask, '{service="shop", crew!="ann"}'), ['b', 'c']);
      t.deepEqual(await found(ask, '{service="other", crew="ann"}'), []);
      t.deepEqual(await volumes(ask, 'index/volume', 'crew'), ['ann', 'bob']);
    });
  }
});

test('without declarations these names select nothing', async (t) => {
  await overFields(t, {}, async (ask) => {
    t.deepEqual(await ask('labels', {}), ['app', 'service_name']);
    t.deepEqual(await found(ask, '{app="shop", http_method="GET"}'), []);
    t.deepEqual(await found(ask, '{app="shop", crew="ann"}'), []);
  });
});
