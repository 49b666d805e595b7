import test from 'ava';
import { request } from 'undici';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { runProgram } from '../../../core/program/program.js';
import { withProxy } from '../../../core/testing/index.js';

const endNs = 1_793_491_500_000_000_000n;
const secondNs = 1_000_000_000n;
const range = [`-start=${endNs - 300n * secondNs}`, `-end=${endNs}`, '-step=60s'];

let backend: DevBackend;

test.before(async () => {
  backend = await startDevBackend();
  const valuesOf = (length: number): readonly unknown[] =>
    Array.from({ length }, (_, n) => [
      String(endNs - BigInt(n + 1) * secondNs),
      `{"status":${n % 2},"ms":${n}}`,
      { 'team.owner': 'red' },
    ]);
  const streams = [
    { stream: { app: 'a' }, values: valuesOf(100) },
    { stream: { app: 'b' }, values: valuesOf(900) },
  ];
  const { statusCode } = await request(`${backend.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (statusCode !== 204) throw new Error(`${statusCode}`);
});
test.after.always(() => backend.close());

interface Told {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function explain(...args: readonly string[]): Promise<Told> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  const status = await runProgram(['explain', `-backend=${backend.url}`, ...args], io);
  return { status, out, err };
}

test.serial(
  'a query that is run tells its calls, rows and strategies, and why strategies declined',
  async (t) => {
    const query =
      'sum by (ms) (count_over_time({app="a"} | json [60s])) / sum(count_over_time({app="a"}[60s]))';
    const { status, out, err } = await explain('--run', ...range, query);
    t.is(err, '');
    t.is(status, 0);
    t.regex(out, /^tries\n {2}statistics: /m);
    t.regex(out, /^ran {5}200 in [\d.]+ ms: matrix of \d+ series$/m);
    t.regex(out, /^calls {3}[1-9]\d* calls, [1-9]\d* rows, [1-9]\d* bytes, [\d.]+ ms$/m);
    const [, first = '', second = ''] = out.slice(out.indexOf('\nran ')).split(/^read {4}/m);
    t.regex(
      first,
      /^\{app="a"\} \| json\n {2}statistics: declined after [\d.]+ ms \(lines-differ\): lines are too different/,
    );
    t.regex(first, /^ {2}short-lines: ran in [\d.]+ ms$/m);
    t.regex(
      second,
      /^\{app="a"\}\n {2}statistics: ran in [\d.]+ ms\n {6}estimated: .*\n {6}took: .*\n {2}rows: not needed, estimated: /,
    );
  },
);

test.serial('as JSON the report says what each strategy asked of the backend', async (t) => {
  const query = 'sum(count_over_time({app="a"} | decolorize | regexp `(?P<digit>[0-9])` | digit="1" [60s]))';
  const { run } = JSON.parse((await explain('-json', '-run', ...range, query)).out) as {
    readonly run: {
      readonly calls: readonly { readonly strategy?: string; readonly rows: number }[];
      readonly strategies: readonly { readonly strategy: string; readonly outcome: string }[];
    };
  };
  t.like(run, { status: 200, answer: 'matrix of 1 series' });
  t.deepEqual(
    run.strategies.map(({ strategy, outcome }) => `${strategy}:${outcome}`),
    ['statistics:not-countable', 'value-groups:times-needed', 'short-lines:lines-needed', 'rows:ran'],
  );
  t.true(run.calls.every(({ strategy }) => strategy === 'rows'));
  const rows = run.calls.reduce((sum, call) => sum + call.rows, 0);
  t.true(rows >= 100 && rows < 110, `${rows} rows`);
});

interface ToldCost {
  readonly calls: number;
  readonly scannedRows?: number;
  readonly sentRows?: number;
  readonly sentBytes?: number;
}
interface ToldStrategy {
  readonly strategy: string;
  readonly declined?: string;
  readonly cost?: ToldCost;
}
interface TriedStrategy {
  readonly strategy: string;
  readonly outcome: string;
  readonly estimate?: ToldCost;
  readonly took?: { readonly calls: number; readonly rows: number; readonly bytes: number };
  readonly others?: readonly { readonly strategy: string }[];
}

test.serial('a query is explained with the strategies that may read it, and why others cannot', async (t) => {
  const candidatesOf = async (query: string): Promise<readonly string[]> => {
    const { out } = await explain('-json', query);
    const { reads } = JSON.parse(out) as {
      readonly reads: readonly { readonly strategies: readonly ToldStrategy[] }[];
    };
    const told = reads[0]?.strategies ?? [];
    // Without a request to the backend, the number of rows is unknown.
    for (const { declined, cost } of told) {
      if (declined === undefined) t.true((cost?.calls ?? 0) >= 3);
      t.is(cost?.scannedRows, undefined);
    }
    return told.map(({ strategy, declined = 'may read it' }) => `${strategy}: ${declined}`);
  };
  t.deepEqual(await candidatesOf('sum by (app) (rate({app="a"}[60s]))'), [
    'statistics: may read it',
    'rows: may read it',
    'whole-rows: may read it',
    'value-groups: times-needed',
    'short-lines: lines-needed',
  ]);
  t.deepEqual(await candidatesOf('sum by (status) (count_over_time({app="a"} | json [60s]))'), [
    'statistics: may read it',
    'short-lines: may read it',
    'rows: may read it',
    'whole-rows: may read it',
    'value-groups: times-needed',
  ]);
  t.deepEqual(await candidatesOf('quantile_over_time(0.9, {app="a"} | json | unwrap ms [60s]) by (status)'), [
    'value-groups: may read it',
    'short-lines: may read it',
    'rows: may read it',
    'whole-rows: may read it',
    'statistics: not-countable',
  ]);
  t.deepEqual(
    await candidatesOf('sum(count_over_time({app="a"} | decolorize | regexp `(?P<d>[0-9])` | d="1" [60s]))'),
    [
      'rows: may read it',
      'whole-rows: may read it',
      'statistics: not-countable',
      'value-groups: times-needed',
      'short-lines: lines-needed',
    ],
  );
  const { out } = await explain('sum by (status) (count_over_time({app="a"} | json [60s]))');
  t.regex(
    out,
    /^ {2}statistics: .*\n {6}5 calls, parses the lines of the selected rows, .*, sends groups × intervals$/m,
  );
});

test.serial('a query that is run again is estimated by what the first run has shown', async (t) => {
  const long = [`-start=${endNs - 900n * secondNs}`, `-end=${endNs}`, '-step=10s'];
  const ranOf = async (...args: readonly string[]): Promise<TriedStrategy | undefined> => {
    const { out } = await explain('-json', '-run', ...long, ...args);
    const { run } = JSON.parse(out) as {
      readonly run: { readonly strategies: readonly TriedStrategy[] };
    };
    return run.strategies.find(({ outcome }) => outcome === 'ran');
  };
  const queries = [
    'sum by (app) (rate({app="b"}[60s]))',
    'sum by (status) (count_over_time({app="b"} | json [60s]))',
    'sum by (status) (count_over_time({app="b"} | json | ms="7" [60s]))',
    'quantile_over_time(0.9, {app="b"} | json | unwrap ms [60s]) by (app)',
    'sum(count_over_time({app="b"} | regexp `(?P<digit>[0-9])` | digit="1" [60s]))',
  ];
  for (const query of queries) {
    const first = await ranOf(query);
    t.is(first?.estimate?.sentRows, undefined, query);
    const { strategy, estimate, took } = (await ranOf('-again', query)) ?? {};
    const told = `${query}: ${strategy}, ${JSON.stringify([estimate, took])}`;
    t.log(told);
    t.is(estimate?.scannedRows, 900, told);
    t.true(Math.abs((estimate?.calls ?? NaN) - (took?.calls ?? NaN)) <= 1, told);
    for (const [estimated = NaN, real = NaN] of [
      [estimate?.sentRows, took?.rows],
      [estimate?.sentBytes, took?.bytes],
    ])
      t.true(estimated <= 3 * real && real <= 3 * estimated, told);
  }
  const { out } = await explain('-run', '-again', ...long, 'sum by (app) (rate({app="b"}[60s]))');
  t.regex(
    out,
    /^ {2}statistics: ran in .*\n {6}estimated: 2 calls, reads 900 rows, checks 0 new rows, sends \d+ groups, \d+ bytes, about \d+ ms\n {6}took: {6}2 calls, \d+ rows, \d+ bytes, [\d.]+ ms\n {2}rows: not needed, estimated: 3 calls, /m,
  );
});

test.serial('a log query that is run is explained with the names that it learned', async (t) => {
  const query = '{app="a"} | team_owner="red"';
  t.regex((await explain(query)).out, /^names {3}not known here/m);
  const { status, out } = await explain('-run', ...range, '-limit=7', query);
  t.is(status, 0);
  t.regex(out, /^names {3}learned within/m);
  t.regex(out, /^logsql .* team\.owner:="red"/m);
  t.regex(out, /: 7 entries of 1 stream$/m);
  t.regex(out, /^ {2}no strategy: [1-9]/m);
});

test.serial('a query that fails when it is run tells the error of Loki and how it came to it', async (t) => {
  const query = 'sum(rate({app="a"} | decolorize | regexp `(?P<first>.)` | unwrap first [60s]))';
  const { status, out } = await explain('-run', `-time=${endNs}`, query);
  t.is(status, 1);
  t.regex(out, /^ran {5}400 in [\d.]+ ms: pipeline error: 'SampleExtractionErr'/m);
  t.regex(out, /^ {2}rows: declined after [\d.]+ ms \(entry-failed\): /m);
  t.regex(out, /^ {2}whole-rows: failed in [\d.]+ ms$/m);
});

test.serial('what is wrong before a query runs is told without running it', async (t) => {
  const refused = await explain('-run', 'rate({app="a"})');
  t.is(refused.status, 1);
  t.regex(refused.err, /^parse error/);
  t.is(refused.out, '');
  t.regex((await explain('-again', '{app="a"}')).err, /-again requires -run/);
  const stray = await explain('-since=1h', '{app="a"}');
  t.is(stray.status, 2);
  t.regex(stray.err, /-since requires -run/);
});

const pipeline = (url: string): string => `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with: { url: '${url}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
`;

test.serial('strategies are counted by outcome, and shown in the request log when debugging', async (t) => {
  await withProxy(
    pipeline(backend.url),
    async ({ url, log }) => {
      const query = 'sum by (ms) (count_over_time({app="a"} | json [60s]))';
      const asked = new URLSearchParams({
        query,
        start: String(endNs - 300n * secondNs),
        end: String(endNs),
      });
      const answer = await request(`${url}/loki/api/v1/query_range?${asked.toString()}`);
      t.is(answer.statusCode, 200);
      await answer.body.dump();
      const record = await log.find((line) => line.get('ref.request.type') === 'query_range');
      t.deepEqual(record.get('proxy.strategies_by_type'), {
        'statistics:lines-differ': 1,
        'value-groups:times-needed': 1,
        'short-lines:ran': 1,
      });
      const metrics = await (await request(`${url}/metrics`)).body.text();
      for (const [strategy, outcome] of [
        ['statistics', 'lines-differ'],
        ['short-lines', 'ran'],
      ])
        t.true(
          metrics.includes(
            `ref_proxy_metric_strategies_total{strategy="${strategy}",outcome="${outcome}"} 1\n`,
          ),
        );
    },
    { flags: { 'log-level': 'debug', 'server.register-instrumentation': 'true' } },
  );
});
