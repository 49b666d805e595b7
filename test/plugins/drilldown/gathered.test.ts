import fc from 'fast-check';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { deepRuns } from '../../setup/runs.js';

const pipeline = (backend: string): string => `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: drilldown
  - use: backend
    with: { url: '${backend}', statsQueryRangeInterQueryDelay: 0 }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
`;
const secondNs = 1_000_000_000n;
/** Fixed, because the cost of counting rows depends on their position relative to five-minute boundaries. */
const endNs = BigInt(Date.UTC(2026, 0, 1, 0, 4)) * 1_000_000n;
const drop = '| drop __error__, __error_details__';

interface Answered {
  readonly status: number;
  /** Without the statistics, which include the execution time. */
  readonly body: unknown;
}

async function ask(url: string, query: string, isDrilldown = true, tenant = ''): Promise<Answered> {
  const params = new URLSearchParams({
    query,
    start: String(endNs - 600n * secondNs),
    end: String(endNs),
    step: '60',
  });
  const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`, {
    headers: {
      ...(isDrilldown ? { 'x-query-tags': 'Source=grafana-lokiexplore-app' } : {}),
      ...(tenant === '' ? {} : { 'x-scope-orgid': tenant }),
    },
  });
  const body = (await answer.json()) as { data?: { stats?: unknown } };
  delete body.data?.stats;
  return { status: answer.status, body };
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^ref_proxy_${name} (.+)$`, 'm').exec(text)?.[1] ?? 0);
}

async function store(t: ExecutionContext): Promise<DevBackend> {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  return backend;
}

const flags = { 'server.register-instrumentation': 'true' };
const names = ['status', 'method', 'user', 'level', 'app', 'a_b', 'none'];
const anyValue = fc.constantFrom('GET', '200', '7ms', '', 'x y', 'é', 'error');
const anyPairs = fc.array(fc.tuple(fc.constantFrom(...names), anyValue), { maxLength: 4 });
const anyLine = fc.oneof(
  anyPairs.map((pairs) => pairs.map(([name, value]) => `${name}="${value}"`).join(' ')),
  anyPairs.map((pairs) => JSON.stringify(Object.fromEntries(pairs))),
  anyPairs.map((pairs) => `${JSON.stringify(Object.fromEntries(pairs)).slice(0, -1)} "broken`),
  fc.constantFrom('plain text', '', 'a=1 a=2', '{"a":{"b":"c"}}', '=', 'status= method'),
);
const anyRow = fc.record({
  line: anyLine,
  atSecond: fc.nat(540),
  metadata: fc.dictionary(fc.constantFrom('status', 'user', 'a.b', 'team'), anyValue, { maxKeys: 2 }),
  pod: fc.constantFrom('p', 'q'),
});
const anyQuestion = fc.record({
  rows: fc.array(anyRow, { minLength: 1, maxLength: 25 }),
  stages: fc.constantFrom(
    `| json | logfmt ${drop}`,
    `| json | logfmt ${drop}`,
    '| logfmt',
    '| json | logfmt',
    `| user!="x y" | logfmt ${drop}`,
    `|= "e" | json | logfmt ${drop}`,
    `| pattern "<status> <_>"`,
  ),
  fields: fc.uniqueArray(fc.constantFrom(...names, 'detected_level', 'team', 'pod'), {
    minLength: 2,
    maxLength: 6,
  }),
});

test('a gathered query answers what it answers alone, in values, errors and warnings', async (t) => {
  const backend = await store(t);
  let run = 0;
  let failures = 0;
  await withProxy(
    pipeline(backend.url),
    async (gathering) => {
      await withProxy(
        pipeline(backend.url),
        async (alone) => {
          await fc.assert(
            fc.asyncProperty(anyQuestion, async ({ rows, stages, fields }) => {
              run += 1;
              for (const { line, atSecond, metadata, pod } of rows) {
                const atNs = endNs - BigInt(600 - atSecond) * secondNs;
                await pushLoki(backend.url, { run: `r${run}`, pod }, [[atNs, line, metadata]]);
              }
              const queries = fields.map(
                (field) =>
                  `sum by (${field}) (count_over_time({run="r${run}"} ${stages} | ${field}!="" [2m]))`,
              );
              const expected = [];
              for (const query of queries) expected.push(await ask(alone.url, query));
              const answers = await Promise.all(queries.map((query) => ask(gathering.url, query)));
              failures += expected.filter(({ status }) => status !== 200).length;
              t.deepEqual(answers, expected);
            }),
            { numRuns: deepRuns(5, 16), endOnFailure: true },
          );
          t.is(await metric(alone.url, 'drilldown_gathered_calls_total'), 0);
        },
        { flags: { ...flags, 'drilldown-burst-window-ms': '0' } },
      );
      t.true((await metric(gathering.url, 'drilldown_gathered_calls_total')) > 0);
    },
    { flags: { ...flags, 'drilldown-burst-window-ms': '300' } },
  );
  t.true(failures > 0);
});

const rowsStored = 50;
const twenty = Array.from({ length: 20 }, (_none, index) => `f${index}`);
const fieldQuery = (field: string): string =>
  `sum by (${field}) (count_over_time({app="a"} | json | logfmt ${drop} | ${field}!="" [1m]))`;

async function rowsOfTwenty(t: ExecutionContext): Promise<DevBackend> {
  const backend = await store(t);
  const line = twenty.map((field, index) => `${field}=v${index % 3}`).join(' ');
  const lines = Array.from({ length: rowsStored }, (_none, index) => {
    return [endNs - BigInt(index + 1) * secondNs, `${line} n=${index}`] as const;
  });
  await pushLoki(backend.url, { app: 'a' }, lines);
  return backend;
}

/** The backend calls, rows read, and combined reads for twenty concurrent field queries. */
async function costOfTwenty(t: ExecutionContext, more: Readonly<Record<string, string>>) {
  const backend = await rowsOfTwenty(t);
  let gathered = 0;
  const before = backend.stats();
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const answers = await Promise.all(twenty.map((field) => ask(url, fieldQuery(field))));
      for (const [index, { status, body }] of answers.entries()) {
        t.is(status, 200);
        t.regex(JSON.stringify(body), new RegExp(`"metric":{"f${index}":"v${index % 3}"}`));
      }
      gathered = await metric(url, 'drilldown_gathered_calls_total');
      t.is(await metric(url, 'drilldown_gathered_fields_sum'), gathered === 0 ? 0 : 20);
    },
    { flags: { ...flags, ...more } },
  );
  const after = backend.stats();
  const calls = Object.entries(after.calls)
    .filter(([path]) => path.startsWith('/select/logsql/'))
    .reduce((sum, [path, count]) => sum + count - (before.calls[path] ?? 0), 0);
  return { calls, rows: after.rowsRead - before.rowsRead, gathered };
}

test('twenty field queries at once are one reading, in parts with a smaller bound and each by itself without a window', async (t) => {
  const long = { 'drilldown-burst-window-ms': '60000' };
  const one = await costOfTwenty(t, { ...long, 'drilldown-burst-max-fields': '20' });
  const four = await costOfTwenty(t, { ...long, 'drilldown-burst-max-fields': '5' });
  const none = await costOfTwenty(t, { 'drilldown-burst-window-ms': '0' });
  t.deepEqual([one.gathered, four.gathered, none.gathered], [1, 4, 0]);
  // One read, and the calls that come with it: the streams and the number of rows.
  t.true(one.calls <= 5, `${one.calls}`);
  t.true(four.calls <= 4 * 5, `${four.calls}`);
  t.true(none.calls >= 20, `${none.calls}`);
  t.true(one.rows <= 5 * rowsStored, `${one.rows}`);
  t.true(none.rows >= 20 * rowsStored, `${none.rows}`);
});

test('callers other than Logs Drilldown do not wait for others', async (t) => {
  const backend = await rowsOfTwenty(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const [first, second] = twenty;
      const answers = await Promise.all(
        [first, second].map((field = '') => ask(url, fieldQuery(field), false)),
      );
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      t.is(await metric(url, 'drilldown_gathered_calls_total'), 0);
      t.is(await metric(url, 'drilldown_alone_total'), 0);
    },
    { flags: { ...flags, 'drilldown-burst-window-ms': '3600000' } },
  );
});

test('tenants are not read for together, whatever they ask', async (t) => {
  const backend = await store(t);
  const tenants = { a: { account_id: '1', project_id: '0' }, b: { account_id: '2', project_id: '0' } };
  for (const [name, { account_id: account }] of Object.entries(tenants))
    await pushLoki(backend.url, { app: 'a' }, [[endNs - secondNs, `f0=${name} f1=${name}`]], undefined, {
      AccountID: account,
    });
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const asked = ['a', 'b'].flatMap((tenant) =>
        ['f0', 'f1'].map(async (field) => {
          const { body } = await ask(url, fieldQuery(field), true, tenant);
          t.regex(JSON.stringify(body), new RegExp(`"${field}":"${tenant}"`));
          t.notRegex(JSON.stringify(body), new RegExp(`"${field}":"${tenant === 'a' ? 'b' : 'a'}"`));
        }),
      );
      await Promise.all(asked);
      t.is(await metric(url, 'drilldown_gathered_calls_total'), 2);
    },
    {
      flags: {
        ...flags,
        'tenant-map': JSON.stringify(tenants),
        'drilldown-burst-window-ms': '60000',
        'drilldown-burst-max-fields': '2',
      },
    },
  );
});
