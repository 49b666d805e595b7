import test from 'ava';
import { Trace } from '../../../../core/base/trace.js';
import type { RangeOp } from '../../../../core/logql/index.js';
import { rangeFunctions } from '../../../../core/logql/functions/range/index.js';
import { declineReasons } from '../../../../core/engine/metric/cost.js';
import { strategies } from '../../../../core/engine/metric/strategies.js';
import { instantRequest, MetricStore, rangeRequest, type StoredEntry } from './metric-store.js';

const base = 1793491200000000000n;
const second = 1_000_000_000n;
const account = 70_000;

let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
  await store.push(account, entries);
});
test.after.always(() => store.close());

const repeated = (ns: bigint): StoredEntry => ({
  ns,
  stream: { app: 'twice' },
  line: `{"took_ms":0,"user":"${'x'.repeat(50)}"}`,
});

const entries = Array.from({ length: 300 }, (_, n): readonly StoredEntry[] => {
  const ns = base + BigInt(n) * second;
  return [
    { ns, stream: { app: 'json' }, line: `{"status":${n % 3},"took_ms":${n},"user":"${'x'.repeat(50)}"}` },
    {
      ns,
      stream: { app: 'tenths' },
      line: `{"took_ms":${n % 2 === 0 ? '-' : ''}${n}.1,"user":"${'x'.repeat(50)}"}`,
    },
    { ns, stream: { app: 'plain' }, line: `took ${n}ms`, metadata: { request: `r${n}` } },
    { ns, stream: { app: 'broken' }, line: n === 150 ? '{"status":' : '{"status":1}' },
    { ns, stream: { app: 'twice' }, line: `{"took_ms":${n % 200},"user":"${'x'.repeat(50)}"}` },
    { ns, stream: { app: 'twice' }, line: `{"took_ms":-${n % 200},"user":"${'x'.repeat(50)}"}` },
    ...(n % 100 === 0 ? [repeated(ns)] : []),
    { ns, stream: { app: 'lenient' }, line: n === 150 ? '{"a":NaN,"status":1}' : '{"a":1,"status":1}' },
  ];
}).flat();

async function tried(text: string, pushdown: 'on' | 'off' = 'on'): Promise<readonly string[]> {
  const request = rangeRequest(text, base, base + 300n * second, 60n * second);
  return (await store.run(request, { account, pushdown })).tried;
}

test.serial('what the backend can count is counted', async (t) => {
  t.deepEqual(await tried('sum by (app) (rate({app="plain"}[60s]))'), ['statistics:ran']);
  t.deepEqual(await tried('sum by (status) (count_over_time({app="json"} | json [60s]))'), [
    'statistics:ran',
  ]);
});

test.serial('where the plan excludes a way, the reason is that of the plan', async (t) => {
  const text = 'sum(count_over_time({app="plain"} | decolorize | regexp `(?P<ms>[0-9]+)ms` | ms="7" [60s]))';
  const excluded = ['statistics:not-countable', 'value-groups:times-needed', 'short-lines:lines-needed'];
  t.deepEqual(await tried(text), [...excluded, 'rows:ran']);
  t.deepEqual(await tried(text, 'off'), [...excluded, 'rows:all-columns', 'whole-rows:ran']);
});

test.serial('where what is stored excludes a way, the reason says what it is', async (t) => {
  t.deepEqual(await tried('quantile_over_time(0.9, {app="json"} | json | unwrap took_ms [60s]) by (app)'), [
    'statistics:not-countable',
    'value-groups:ran',
  ]);
  t.deepEqual(await tried('sum by (took_ms) (count_over_time({app="json"} | json [60s]))'), [
    'statistics:lines-differ',
    'value-groups:times-needed',
    'short-lines:ran',
  ]);
  t.deepEqual(await tried('sum by (took_ms) (count_over_time({app="twice"} | json [60s]))'), [
    'statistics:lines-differ',
    'value-groups:times-needed',
    'short-lines:repeated-rows',
    'rows:ran',
  ]);
  t.deepEqual(
    await tried('sum by (status) (count_over_time({app="lenient"} | json | drop __error__ [60s]))'),
    ['statistics:lenient-numbers', 'value-groups:times-needed', 'short-lines:lenient-numbers', 'rows:ran'],
  );
  t.deepEqual(await tried('sum(count_over_time({app="plain"} | request!="r7" [60s]))'), ['statistics:ran']);
});

test.serial(
  'the backend gathers values where their times do not matter, and fractions to add up where they have one sign',
  async (t) => {
    /** The outcomes for whole numbers, and for fractions of both signs. */
    const waysOf = async (op: string, form = ''): Promise<readonly (string | undefined)[]> => {
      const { parameter, grouping } = rangeFunctions[op as RangeOp];
      const ways: (string | undefined)[] = [];
      for (const app of ['json', 'tenths']) {
        const values = `{app="${app}"} | json | unwrap took_ms ${form}[60s]`;
        const made = `${op}(${parameter === 'required' ? '0.9, ' : ''}${values})`;
        const text = grouping === 'allowed' ? `${made} by (app)` : `sum by (app) (${made})`;
        ways.push((await tried(text)).find((way) => way.startsWith('value-groups:')));
      }
      return ways;
    };
    const found = new Map<string, readonly (string | undefined)[]>();
    for (const [op, { ofValues }] of Object.entries(rangeFunctions))
      if (ofValues !== undefined) found.set(op, await waysOf(op));
    const [ran, not] = ['value-groups:ran', 'value-groups:times-needed'];
    const [values, sum, times] = [
      [ran, ran],
      [ran, not],
      [not, not],
    ];
    t.deepEqual(Object.fromEntries(found), {
      ...{ quantile_over_time: values, min_over_time: values, max_over_time: values },
      ...{ sum_over_time: sum, rate: sum, avg_over_time: sum, stddev_over_time: sum, stdvar_over_time: sum },
      ...{ first_over_time: times, last_over_time: times, rate_counter: times, absent_over_time: values },
    });
    t.deepEqual(await waysOf('avg_over_time', '| __error__="" '), sum);
  },
);

test.serial('buckets that the backend cannot tell apart are counted here', async (t) => {
  const text = 'sum(count_over_time({app="plain"}[60s]))';
  const request = rangeRequest(text, base + 1n, base + 300n * second + 1n, 60n * second);
  t.is((await store.run(request, { account })).tried.at(-1), 'statistics:ran');
  const fine = rangeRequest(text.replace('60s', '59999ms'), base, base + 300n * second, 60n * second);
  t.is((await store.run(fine, { account })).tried[0], 'statistics:too-many-buckets');
  const instant = instantRequest(text, base + 100n * second + 1n);
  t.is((await store.run(instant, { account })).tried.at(-1), 'statistics:ran');
});

test.serial('an entry that cannot be evaluated is named by the last way alone', async (t) => {
  const text = 'sum by (status) (count_over_time({app="broken"} | json [60s]))';
  const request = rangeRequest(text, base, base + 300n * second, 60n * second);
  const trace = new Trace();
  const error = await t.throwsAsync(store.run(request, { account, trace }));
  t.regex(error.message, /JSONParserErr.*app="broken"/s);
  const seen = trace.strategies.map(({ strategy, outcome }) => `${strategy}:${outcome}`);
  t.deepEqual(seen, [
    'statistics:entry-failed',
    'value-groups:entry-failed',
    'short-lines:entry-failed',
    'rows:entry-failed',
    'whole-rows:failed',
  ]);
  // Reading short lines cannot name the entry either, so it is not tried.
  t.deepEqual(
    new Set(trace.upstreamCalls.map(({ strategy }) => strategy)),
    new Set(['statistics', 'rows', 'whole-rows']),
  );
});

test.serial('each call is traced as that of the strategy that made it', async (t) => {
  const text = 'sum by (took_ms) (count_over_time({app="twice"} | json [60s]))';
  const request = rangeRequest(text, base, base + 300n * second, 60n * second);
  const { calls } = await store.run(request, { account });
  const read = calls.filter(({ strategy }) => strategy === 'rows').reduce((sum, { rows }) => sum + rows, 0);
  // The rows themselves, the rows of a count that determines how to split the range, and those about repeated lines.
  t.true(read >= 600 && read < 630, `${read} rows`);
  t.true(calls.every(({ strategy }) => strategies.some(({ name }) => name === strategy)));
});

test('a reason is a short identifier with a sentence', (t) => {
  for (const [reason, sentence] of Object.entries(declineReasons)) {
    t.regex(reason, /^[a-z]+(-[a-z]+){1,3}$/);
    t.regex(sentence, /^\S.{20,}[^.]$/, reason);
  }
});
