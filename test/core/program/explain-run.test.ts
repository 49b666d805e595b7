import test from 'ava';
import { request } from 'undici';
import { startDevBackend, type DevBackend } from '../../../core/embedded/index.js';
import { runProgram } from '../../../core/program/program.js';
import { withProxy } from '../../../core/testing/index.js';

const endNs = 1_793_491_500_000_000_000n;
const secondNs = 1_000_000_000n;
const range = [`-start=${endNs - 300n * secondNs}`, `-end=${endNs}`, '-step=60s'];

let backend: DevBackend;

test.before(async () => {
  backend = await startDevBackend();
  const values = Array.from({ length: 100 }, (_, n) => [
    String(endNs - BigInt(n + 1) * secondNs),
    `{"status":${n % 2},"ms":${n}}`,
    { 'team.owner': 'red' },
  ]);
  const { statusCode } = await request(`${backend.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
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
    t.regex(out, /^tries\n {2}fields: /m);
    t.regex(out, /^ran {5}200 in [\d.]+ ms: matrix of \d+ series$/m);
    t.regex(out, /^calls {3}[1-9]\d* calls, [1-9]\d* rows, [1-9]\d* bytes, [\d.]+ ms$/m);
    const [, first = '', second = ''] = out.slice(out.indexOf('\nran ')).split(/^read {4}/m);
    t.regex(
      first,
      /^\{app="a"\} \| json\n {2}fields: declined .*\n.*\n.*\n {2}statistics: declined after [\d.]+ ms \(lines-differ\): lines have/,
    );
    t.regex(first, /^ {2}short-lines: ran in [\d.]+ ms$/m);
    t.regex(
      second,
      /^\{app="a"\}\n {2}fields: declined .*\n {6}estimated: .*\n {6}took: .*\n {2}statistics: ran in [\d.]+ ms\n {6}estimated: .*\n {6}took: .*\n$/,
    );
  },
);

test.serial('as JSON the report says what each strategy asked of the backend', async (t) => {
  const query = 'sum(count_over_time({app="a"} | regexp `(?P<digit>[0-9])` | digit="1" [60s]))';
  const { run } = JSON.parse((await explain('-json', '-run', ...range, query)).out) as {
    readonly run: {
      readonly calls: readonly { readonly strategy?: string; readonly rows: number }[];
      readonly strategies: readonly { readonly strategy: string; readonly outcome: string }[];
    };
  };
  t.like(run, { status: 200, answer: 'matrix of 1 series' });
  t.deepEqual(
    run.strategies.map(({ strategy, outcome }) => `${strategy}:${outcome}`),
    [
      'fields:lines-needed',
      'statistics:not-countable',
      'value-groups:lines-needed',
      'short-lines:lines-needed',
      'rows:ran',
    ],
  );
  t.true(run.calls.every(({ strategy }) => strategy === 'rows'));
  const rows = run.calls.reduce((sum, call) => sum + call.rows, 0);
  t.true(rows >= 100 && rows < 110, `${rows} rows`);
});

test.serial('a log query that is run is explained with the names that it learned', async (t) => {
  const query = '{app="a"} | team_owner="red"';
  t.regex((await explain(query)).out, /^names {3}not known here/m);
  const { status, out } = await explain('-run', ...range, '-limit=7', query);
  t.is(status, 0);
  t.regex(out, /^names {3}as they were learned/m);
  t.regex(out, /^logsql .* team\.owner:="red"/m);
  t.regex(out, /: 7 entries of 1 stream$/m);
  t.regex(out, /^ {2}no strategy: [1-9]/m);
});

test.serial('a query that fails when it is run tells the error of Loki and how it came to it', async (t) => {
  const query = 'sum(rate({app="a"} | regexp `(?P<first>.)` | unwrap first [60s]))';
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
  const stray = await explain('-since=1h', '{app="a"}');
  t.is(stray.status, 2);
  t.regex(stray.err, /-since needs -run/);
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
        'fields:has-lines': 1,
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
